"""Slips on the command line that everybody makes, each with what is said or done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import call as trainyard
from make import JOB, TEAM, write_repository

SWEEP = """\
from trainyard.specs import Job


def jobs():
    fields = {"cluster": "test", "launcher": "python", "image": "IMAGE", "pool": "gpu", "queue": "research"}
    yield "sweep-low", Job(program="train.py", gpus_per_node=1, **fields)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a job, a broken one, and a program."""
    jobs = {"nlp/train": JOB, "nlp/broken": {**JOB, "nodez": 2}}
    root = write_repository(tmp_path / "repo", jobs=jobs, teams={"nlp": {**TEAM, "python": True}})
    (root / "jobs/nlp/sweep.py").write_text(SWEEP.replace("IMAGE", JOB["image"]))
    return root


NAMED = {
    "as <team>/<job>": (".", "nlp/train"),
    "by its file": (".", "jobs/nlp/train.yaml"),
    "by its file, as a shell completes it": (".", "./jobs/nlp/train.yaml"),
    "by its file, in its folder": ("jobs/nlp", "train.yaml"),
    "by its file, elsewhere": ("platform/teams", "../../jobs/nlp/train.yaml"),
    "by its file as seen from the root, elsewhere": ("platform/teams", "jobs/nlp/train.yaml"),
    "as <team>/<job>, elsewhere": ("platform/teams", "nlp/train"),
    "by its whole path": (".", "/jobs/nlp/train.yaml"),
}


@pytest.mark.parametrize(("folder", "name"), NAMED.values(), ids=NAMED)
def test_a_job_may_be_named_by_its_file(root: Path, folder: str, name: str) -> None:
    """From the root or from any folder below, by commands that read it and those that write it."""
    named = f"{root}{name}" if name.startswith("/") else name
    (root / "jobs/nlp/broken.yaml").unlink()
    assert trainyard(root / folder, "explain", named).stdout.startswith("JobSet nlp/train-")
    assert trainyard(root / folder, "retire", named).returncode == 0
    assert (root / "jobs/nlp/train.yaml").read_text().endswith("retired: true\n")


REFUSED = {
    "no name": (["admit", ""], "job '' does not exist; there are: nlp/train"),
    "a team": (["admit", "nlp"], "'nlp' must be <team>/<job>; there are: nlp/train"),
    "no cluster": (["admit", "--cluster", ""], "cluster '' does not exist; there are: other, test"),
    "a job of another cluster": (
        ["admit", "nlp/train", "--cluster", "platform/clusters/other.yaml"],
        "job 'nlp/train' is on cluster 'test', but --cluster is other; remove it",
    ),
    "cases and a job": (["admit", "nlp/train", "--replay", "x"], "--replay takes no jobs"),
    "a job's cluster": (["explain", "nlp/train", "--cluster", "kind"], "--cluster works only with `trainyard explain"),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_asked_is_refused(root: Path, words: list[str], message: str) -> None:
    """Nothing is left unsaid: an empty answer would read as a clean one."""
    (root / "platform/clusters/other.yaml").write_text((root / "platform/clusters/test.yaml").read_text())
    done = trainyard(root, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_cluster_may_be_named_by_its_file(root: Path) -> None:
    """As jobs may."""
    done = trainyard(root, "admit", "nlp/train", "--cluster", "./platform/clusters/test.yaml")
    assert done.stdout.startswith("cluster test\n  nlp/train  ")


def test_admit_says_why_a_job_that_exists_has_no_verdict(root: Path) -> None:
    """One whose file cannot be read is there for its author, and one that is retired asks for nothing."""
    broken = trainyard(root, "admit", "nlp/broken")
    assert broken.returncode == 1
    assert "jobs/nlp/broken.yaml:" in broken.stderr
    assert broken.stderr.endswith("job 'nlp/broken' cannot run; run `trainyard check` for the reason\n")
    (root / "jobs/nlp/broken.yaml").unlink()
    assert trainyard(root, "retire", "nlp/train").returncode == 0
    retired = trainyard(root, "admit", "nlp/train", "-o", "json")
    assert (retired.returncode, retired.stdout) == (0, "[]\n")
    assert retired.stderr.endswith("job 'nlp/train' is retired and requests nothing\n")


def test_a_spec_is_no_case(root: Path) -> None:
    """It read as a case of nothing, answered with nothing."""
    done = trainyard(root, "admit", "--replay", "jobs/nlp/train.yaml")
    assert done.returncode == 1
    assert "a case is a mapping with name, mode and objects" in done.stdout


KUEUE = "kueue.x-k8s.io/v1beta2"
FLAVOR = {"kind": "ResourceFlavor", "metadata": {"name": "tas"}, "spec": {"topologyName": "dc"}}
USED = {"fairSharing": {"weightedShare": 0, "admissionFairSharingStatus": {"consumedResources": {}}}}
UNREADABLE = {
    "a field that is required": (
        [{"kind": "Topology", "metadata": {"name": "dc"}, "spec": {"levels": [{}]}}, FLAVOR],
        [],
        "cases.yaml:2: Topology dc: spec.levels[0].nodeLabel is required",
    ),
    "a status that is not whole": (
        [{"kind": "LocalQueue", "metadata": {"name": "lq"}, "status": USED}],
        [],
        "cases.yaml:2: LocalQueue lq: status.fairSharing.admissionFairSharingStatus.lastUpdate is required",
    ),
    "quota of nobody": ([], [{"flavor": "x"}], "cases.yaml:3: admitted[0] must name its workload"),
    "no object": (["x"], [], "cases.yaml:2: objects[0] must be a mapping"),
}


@pytest.mark.parametrize(("objects", "admitted", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_case_that_cannot_be_read_says_where(root: Path, objects: list, admitted: list, message: str) -> None:
    """What the definition of a kind refuses is told with file and line, and the next case is answered."""
    several = [{"apiVersion": KUEUE, **item} if isinstance(item, dict) else item for item in objects]
    case = f"name: one\nobjects: {json.dumps(several)}\nadmitted: {json.dumps(admitted)}\n"
    (root / "cases.yaml").write_text(f"{case}---\nname: two\nobjects: []\n")
    done = trainyard(root, "admit", "--replay", "cases.yaml")
    one, two = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, "error" in one, two["name"]) == (1, True, "two")
    assert message in done.stderr.splitlines()


def test_a_job_with_an_error_shows_it(root: Path) -> None:
    """The error is told with its place, and why nothing is explained."""
    done = trainyard(root, "explain", "nlp/broken")
    assert done.returncode == 1
    assert "jobs/nlp/broken.yaml:" in done.stderr
    assert "did you mean 'nodes'?" in done.stderr
    assert done.stderr.endswith("job 'nlp/broken' cannot run; run `trainyard check` for the reason\n")


MADE = {
    "run again": ("rerun", "nlp/sweep-low belongs to a program; set run=2 in jobs/nlp/sweep.py"),
    "stopped": ("retire", "nlp/sweep-low belongs to a program; set retired=True in jobs/nlp/sweep.py"),
}


@pytest.mark.parametrize(("command", "said"), MADE.values(), ids=MADE)
def test_a_job_of_a_sweep_is_changed_where_it_is_made(root: Path, command: str, said: str) -> None:
    """It is there, so it is not said to be missing: the file is named and what to write into it."""
    done = trainyard(root, command, "nlp/sweep-low")
    assert (done.returncode, done.stderr) == (2, f"trainyard: {said}\n")


def test_a_job_of_a_sweep_is_explained(root: Path) -> None:
    """As any other, where its program may be run."""
    (root / "jobs/nlp/broken.yaml").unlink()
    assert "nlp/sweep-low-" in trainyard(root, "explain", "nlp/sweep-low", "--python").stdout


WRONG = {
    "a word for a number": (("run", "nlp/train", "--nodes", "two"), "--nodes is 'two', but must be a whole number"),
    "a part of a node": (("run", "nlp/train", "--nodes", "1.5"), "--nodes is '1.5', but must be a whole number"),
    "less than one": (("run", "nlp/train", "--nodes", "0"), "--nodes is 0, but must be 1 or more"),
    "a word for seconds": (("run", "nlp/train", "--grace", "long"), "--grace is 'long', but must be a number"),
    "an option mistyped": (("synth", "--bse"), "no such option: --bse (possible options: --base)"),
    "a command mistyped": (("new", "jobb"), "no such command 'jobb'; did you mean 'job'?"),
    "a command of another program": (("get", "jobs"), "no such command 'get'; `trainyard --help` lists them"),
    "an option before the command": (
        ("-o", "json", "admit"),
        "no such option: -o; options stand behind the command, as in `trainyard admit --format json`",
    ),
    "a format of another program": (
        ("explain", "nlp/train", "-o", "yaml"),
        "format 'yaml' does not exist; there are: json, text",
    ),
    "a format of verdicts": (("admit", "-o", "yml"), "format 'yml' does not exist; there are: json, text"),
    "a job left out": (("explain",), "missing argument 'job', as in: trainyard explain nlp/llama3-8b"),
    "a folder left out": (
        ("init",),
        "missing argument 'folder', as in: trainyard init training --wheel trainyard_gitops-0.1.0-py3-none-any.whl",
    ),
    "Kubernetes as an operator": (
        ("validate", "--with", "kubernetes=1.34", "x.yaml"),
        "--with 'kubernetes=1.34' is not an operator; write --kubernetes 1.34",
    ),
}


@pytest.mark.parametrize(("arguments", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_is_told_in_words(root: Path, arguments: tuple[str, ...], said: str) -> None:
    """The option, what it is, and what it should be, in one line."""
    done = trainyard(root, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"trainyard: {said}\n")


def test_a_missing_git_is_told_apart_from_a_missing_repository(root: Path, tmp_path: Path) -> None:
    """One is installed, the other is made."""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "the program git is not installed" in trainyard(root, "plan", PATH=str(empty)).stderr
    assert "this folder is in no Git repository" in trainyard(root, "plan").stderr
