"""`check`: any file is taken for what it is, whatever is missing here, as hooks and people call it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from command import call as trainyard
from conftest import ROOT
from make import CLUSTER, JOB, TEAM, write_repository
from repo import Repo

pytestmark = pytest.mark.node

MANIFEST = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: x, namespace: nlp}
dta: {}
"""

SWEEP = """\
from trainyard.specs import Job

JOB = %s


def jobs():
    for nodes in (1, %s):
        yield f"n{nodes}", Job.model_validate(JOB | {"nodes": nodes})
"""


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a repository with one job in a folder of a larger one, synthesised and committed."""
    repo = Repo(tmp_path_factory.mktemp("check") / "repo")
    write_repository(repo.root / "training")
    done = trainyard(repo.root / "training", "synth")
    assert done.returncode == 0, done.stderr
    repo.put("deploy/config.yaml", MANIFEST)
    repo.put(".github/workflows/ci.yaml", "on: push\njobs: {}\n")
    repo.commit()
    repo.git("switch", "-qc", "work")
    return repo


def found(root: Path, *arguments: str, **env: str) -> list[tuple[str, int, str]]:
    """Return file, line and rule of what a check finds, where it says it also by its exit code."""
    done = trainyard(root, "check", *arguments, "--format", "json", **env)
    report = json.loads(done.stdout)
    errors = [finding for finding in report["findings"] if finding["severity"] == "error"]
    assert done.returncode == int(bool(errors)), done.stderr
    places = [(error["spec"] or error, error["rule"]) for error in errors]
    return [(where["file"], where["line"], rule) for where, rule in places]


WRONG = {
    "a job": ("training/jobs/nlp/train.yaml", {**JOB, "gpuPerNode": 8}, "spec/unknown-field"),
    "a cluster": ("training/platform/clusters/test.yaml", {**CLUSTER, "kubernets": "1.35"}, "spec/unknown-field"),
    "a team": ("training/platform/teams/nlp.yaml", {**TEAM, "grup": "x"}, "spec/unknown-field"),
    "the repository's file": ("training/platform/repository.yaml", {"live": "maybe", "repoURL": "x"}, "spec/type"),
    "an object of one's own": (
        "training/platform/extra/test/platform/map.yaml",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "nlp"}, "dta": {}},
        "schema/unknown-field",
    ),
}


@pytest.mark.parametrize(("file", "value", "rule"), WRONG.values(), ids=WRONG)
def test_a_file_is_taken_for_what_it_is(file: str, value: Mapping[str, Any], rule: str, repo: Repo) -> None:
    """Each is judged by its place in the repository above it, from wherever that is asked."""
    path = repo.put(file, yaml.safe_dump(dict(value), sort_keys=False))
    assert (file, rule) in [(name, id_) for name, _, id_ in found(repo.root, file)]
    assert rule in [id_ for _, _, id_ in found(path.parent, path.name)]


def test_a_folder_around_specs_has_them_all(repo: Repo) -> None:
    """`platform` has clusters, teams and the repository's file, and is no folder of manifests."""
    for name in ("a cluster", "a team"):
        file, value, _ = WRONG[name]
        repo.put(file, yaml.safe_dump(dict(value), sort_keys=False))
    files = {file for file, _, _ in found(repo.root, "training/platform")}
    assert {"training/platform/clusters/test.yaml", "training/platform/teams/nlp.yaml"} <= files


def test_a_manifest_of_nobody_is_judged_as_one(repo: Repo) -> None:
    """A file outside every repository is a stranger's."""
    assert found(repo.root, "deploy/config.yaml") == [("deploy/config.yaml", 4, "schema/unknown-field")]


def test_what_only_the_server_refuses_stands_at_the_job(repo: Repo) -> None:
    """What is passed through into pods is judged before anything is written, at the job's own line."""
    job = {**JOB, "labels": {"team": "a b"}}
    path = repo.put("training/jobs/nlp/train.yaml", yaml.safe_dump(job, sort_keys=False))
    assert found(repo.root, "training/jobs/nlp/train.yaml")
    done = trainyard(repo.root, "check", str(path), "--format", "github")
    assert "file=training/jobs/nlp/train.yaml,line=" in done.stdout


def test_a_program_of_jobs_is_checked(repo: Repo) -> None:
    """A Python job is run, and what is wrong with its jobs is said of its line."""
    team = {**TEAM, "python": True}
    repo.put("training/platform/teams/nlp.yaml", yaml.safe_dump(team))
    repo.put("training/jobs/nlp/sweep.py", SWEEP % (repr(JOB), 900))
    assert {file for file, _, _ in found(repo.root, "training/jobs/nlp/sweep.py")} == {"training/jobs/nlp/sweep.py"}


def test_other_files_are_not_reported_but_counted(repo: Repo) -> None:
    """A check of one job says nothing of another but that there is something."""
    repo.put("training/jobs/nlp/train.yaml", yaml.safe_dump({**JOB, "gpuPerNode": 8}))
    repo.put("training/jobs/nlp/right.yaml", yaml.safe_dump(JOB))
    done = trainyard(repo.root, "check", "training/jobs/nlp/right.yaml")
    assert done.returncode == 0
    assert "1 more error in other files" in done.stdout


def test_what_keeps_a_job_from_being_checked_is_reported(repo: Repo) -> None:
    """An error in its cluster's or team's file fails the check of a job that is right, and is shown."""
    repo.put("training/jobs/nlp/right.yaml", yaml.safe_dump(JOB))
    for folder, name in (("clusters", JOB["cluster"]), ("teams", "nlp")):
        path = repo.root / f"training/platform/{folder}/{name}.yaml"
        before = path.read_text()
        path.write_text(f"{before}prioritties: {{}}\n")
        done = trainyard(repo.root, "check", "training/jobs/nlp/right.yaml")
        assert done.returncode == 1, done.stdout
        assert f"training/platform/{folder}/{name}.yaml:" in done.stdout
        path.write_text(before)


def test_the_whole_repository_is_found_upwards(repo: Repo) -> None:
    """Without a file all of the repository at hand is checked, from any folder in it."""
    assert found(repo.root / "training/jobs/nlp") == []
    repo.put("training/jobs/nlp/new.yaml", yaml.safe_dump(JOB))
    assert [rule for _, _, rule in found(repo.root / "training")] == ["run/stale"]


def test_a_check_needs_no_other_tool(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without kubeconform, Git and cdk8s it says what was skipped, a line each, and finds what it can."""
    monkeypatch.setitem(sys.modules, "cdk8s", None)
    repo.put("training/jobs/nlp/train.yaml", yaml.safe_dump({**JOB, "gpuPerNode": 8}))
    done = trainyard(repo.root, "check", "training/jobs/nlp/train.yaml", PATH=str(tmp_path))
    assert done.returncode == 1
    assert "[spec/unknown-field]" in done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("skipped ")]
    assert [line.split(":")[0] for line in lines[:3]] == [
        "skipped base", "skipped schema/kubeconform", "skipped rendering",
    ]  # fmt: skip


def test_a_missing_file_is_said() -> None:
    """A file that is not there ends the check."""
    done = trainyard(ROOT, "check", "jobs/nlp/no-such.yaml")
    assert (done.returncode, done.stderr) == (2, "trainyard: jobs/nlp/no-such.yaml does not exist\n")


def hooks() -> dict[str, dict[str, Any]]:
    """Return the hooks by id."""
    return {item["id"]: item for item in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


def test_the_hook_is_given_what_is_ours(repo: Repo) -> None:
    """pre-commit calls the entry with the changed files that match: specs and generated files, not workflows."""
    hook = hooks()["trainyard-check"]
    changed = repo.git("ls-files").splitlines()
    given = [item for item in changed if re.search(hook["files"], item)]
    assert "training/jobs/nlp/train.yaml" in given
    assert ".github/workflows/ci.yaml" not in given
    assert "deploy/config.yaml" not in given
    words = shlex.split(hook["entry"])
    assert words[0] == "trainyard"
    done = trainyard(repo.root, *words[1:], *given)
    assert (done.returncode, done.stderr) == (0, "")
    repo.put("training/jobs/nlp/train.yaml", yaml.safe_dump({**JOB, "gpuPerNode": 8}))
    assert trainyard(repo.root, *words[1:], "training/jobs/nlp/train.yaml").returncode == 1


MISTAKES = """\
# of the team
cluster: test     # where
kind: JobSet
launcher: torchrun
image: %s
program: train.py
pool: gpu
gpuPerNode: 8   # all of them
queue: research
env: {DEBUG: on, RATE: 1.10}
"""


def test_what_takes_no_thought_is_mended(repo: Repo) -> None:
    """Names, quotes and endings are mended where they stand; comments, form and digests stay as they are."""
    text = MISTAKES % JOB["image"]
    path = repo.put("training/jobs/nlp/other.yml", text)
    shown = trainyard(repo.root, "check", "training/jobs/nlp/other.yml", "--diff")
    assert path.read_text() == text
    assert "rename to training/jobs/nlp/other.yaml" in shown.stdout
    trainyard(repo.root, "check", "training/jobs/nlp/other.yml", "--fix")
    right = text.replace("gpuPerNode: 8 ", "gpusPerNode: 8 ").replace("on, RATE: 1.10", '"on", RATE: "1.10"')
    assert not path.exists()
    assert path.with_suffix(".yaml").read_text() == right


def test_a_mark_of_the_encoding_and_lines_of_windows_stay(repo: Repo) -> None:
    """A misspelt field and a number in quotes are mended in such a file, too, and nothing else of it changes."""
    text = "\ufeff" + (MISTAKES % JOB["image"]).replace("gpuPerNode: 8 ", "gpuPerNode: '8' ").replace("\n", "\r\n")
    path = repo.put("training/jobs/nlp/other.yaml", "")
    path.write_bytes(text.encode())
    trainyard(repo.root, "check", "training/jobs/nlp/other.yaml", "--fix")
    right = text.replace("gpuPerNode: '8' ", "gpusPerNode: 8 ").replace("on, RATE: 1.10", '"on", RATE: "1.10"')
    assert path.read_bytes() == right.encode()


@pytest.mark.parametrize("format_", ["json", "sarif", "github"])
def test_a_diff_does_not_stand_in_a_report_that_programs_read(format_: str, tmp_path: Path) -> None:
    """Beside a format that is read by a program the diff goes to standard error, whether or not it is written."""
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: 1}\n")
    for more in ((), ("--fix",)):
        done = trainyard(tmp_path, "check", "a.yaml", "--diff", *more, "-o", format_)
        assert '+data: {a: "1"}' in done.stderr
        assert "+++" not in done.stdout
        assert format_ == "github" or json.loads(done.stdout)


def test_a_diff_does_not_steer_a_terminal(tmp_path: Path) -> None:
    """A name begins no line of its own in a diff, and what is quoted holds no control."""
    name = "a\n::error::b.yaml"
    (tmp_path / name).write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n# \u202e\ndata: {a: 1}\n")
    shown = trainyard(tmp_path, "check", name, "--diff").stdout
    assert '+data: {a: "1"}' in shown
    assert "\n::error::" not in shown
    assert "\u202e" not in shown


def test_manifests_are_mended_too(repo: Repo) -> None:
    """A number or a truth where a text belongs gets its quotes, with the comment behind it left alone."""
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: 1.10  # one\n  b: on\n"
    path = repo.put("deploy/quotes.yaml", text)
    assert trainyard(repo.root, "check", "deploy/quotes.yaml", "--fix").returncode == 0
    assert path.read_text() == text.replace("1.10", '"1.10"').replace("on\n", '"on"\n')


POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n"
NEAR = {
    "a value that begins with the key": (POD + "  - name: a\n    imag: imag-web:1\n", ("imag:", "image:")),
    "a value that is the key": (POD + "  - name: a\n    imag: imag\n", ("imag:", "image:")),
    "a value that is the key and a tag": (POD + "  - {name: a, imag: imag:1}\n", ("imag: ", "image: ")),
    "keys in quotes": (POD + '  - {"name": "a", "imag" :"imag:1"}\n', ('"imag" ', '"image" ')),
    "a map whose first key is the same word": (
        POD + "  - name: a\n    image: b\n    resorces:\n      resorces: x\n", ("resorces:\n", "resources:\n"),
    ),
    "an object of a list": (
        "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, dat: {dat: x}}]\n",
        ("dat: {", "data: {"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "change"), NEAR.values(), ids=NEAR)
def test_only_keys_are_respelt(text: str, change: tuple[str, str], tmp_path: Path) -> None:
    """Of a misspelt field the key is mended, never a value that looks like it, however often that is asked."""
    path = tmp_path / "a.yaml"
    path.write_text(text)
    trainyard(tmp_path, "check", "a.yaml", "--fix")
    trainyard(tmp_path, "check", "a.yaml", "--fix")
    assert path.read_text() == text.replace(*change)


def test_a_mended_file_stays_as_closed_as_it_was(tmp_path: Path) -> None:
    """Who may read a file is not changed by mending it."""
    path = tmp_path / "a.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: 1}\n")
    path.chmod(0o600)
    trainyard(tmp_path, "check", "a.yaml", "--fix")
    assert '{a: "1"}' in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_is_mended_where_that_takes_thought(repo: Repo) -> None:
    """A field whose right name is there already, an image by tag, an unknown queue: the file stays."""
    wrong = {**JOB, "gpuPerNode": 4, "image": "registry.example.com/nlp/bert:v1", "queue": "reserch"}
    text = yaml.safe_dump(wrong)
    path = repo.put("training/jobs/nlp/train.yaml", text)
    assert trainyard(repo.root, "check", str(path), "--fix").returncode == 1
    assert path.read_text() == text


def test_a_shell_that_is_there_completes(tmp_path: Path) -> None:
    """In bash, after the script is read, commands, options, formats and jobs complete."""
    program = tmp_path / "trainyard"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m trainyard "$@"\n')
    program.chmod(0o755)
    script = trainyard(ROOT, "completion", "bash").stdout
    asked = {
        "trainyard val": "validate",
        "trainyard check --form": "--format",
        "trainyard explain vision/v": "vision/vit-large",
        "trainyard admit --cluster bo": "borealis",
    }
    for line, wanted in asked.items():
        words = line.split(" ")
        ask = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _trainyard_completion trainyard; "
        body = f"{script}\n{ask} printf '%s\\n' \"${{COMPREPLY[@]}}\""
        env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "platform")}
        done = subprocess.run(["bash", "-c", body], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        assert wanted in done.stdout.split(), done.stderr


def test_other_shells_have_their_script() -> None:
    """Both zsh and fish have scripts too; a shell that is not known is named."""
    assert trainyard(ROOT, "completion", "zsh").stdout.startswith("#compdef trainyard")
    assert trainyard(ROOT, "completion", "fish").stdout.startswith("complete --command trainyard")
    assert "did you mean 'fish'" in trainyard(ROOT, "completion", "fsh").stderr
