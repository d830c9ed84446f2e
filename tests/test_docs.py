"""What the documentation shows is true: its specs load, its YAML would be admitted, its commands run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path
from textwrap import dedent
from typing import Any, get_args

import pytest
import yaml

from command import call
from conftest import ROOT
from tool import tool
from trainyard.base.documents import load
from trainyard.base.findings import Layer
from trainyard.checks import World
from trainyard.judge.checks.inputs import decode
from trainyard.judge.checks.validate import strangers
from trainyard.judge.policies.policy import usable
from trainyard.judge.policies.run import check
from trainyard.render.kinds import kinds
from trainyard.render.launchers import launchers
from trainyard.specs import Cluster, Repository

PAGES = [ROOT / "README.md", *sorted(set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "rules.md"})]
"""Pages that people write; what `make docs` shows as wrong and right comes from tests."""
BLOCK = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
GIT = ("git", "-c", "user.name=docs", "-c", "user.email=docs@example.com", "-c", "commit.gpgsign=false")
CUT = re.compile(r"^ *# …\n", re.MULTILINE)
"""A line in place of those of a generated file that a page leaves out."""
PARTS = ("jobs", "platform", "policies", "schemas", "generated")


def blocks(language):
    """Every code block of a language: page, words after the language, text."""
    for page in PAGES:
        for match in BLOCK.finditer(page.read_text()):
            if match[2] == language:
                yield page.name, match[3].strip(), dedent(match[4])


def files(top):
    """YAML blocks whose first line names a file below `top`."""
    for page, _, text in blocks("yaml"):
        named = re.match(rf"# ({top}/\S+)\n", text)
        if named:
            yield pytest.param(named[1], text, id=f"{page}:{named[1]}")


def changes():
    """YAML blocks that show the fields of a job that are added or replaced: the job's file, the fields."""
    for page, _, text in blocks("yaml"):
        named = re.match(r"# in (jobs/\S+)\n", text)
        if named:
            yield pytest.param(named[1], yaml.safe_load(text), id=f"{page}:{named[1]}")


def policies():
    """The policies in Python that the documentation shows."""
    return [text for _, _, text in blocks("python") if "trainyard.checks import" in text]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the repository's own files, with every spec that the documentation shows."""
    folder = tmp_path_factory.mktemp("docs") / "repository"
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "trainyard"))
    (folder / ".tools").symlink_to(ROOT / ".tools")
    for top in ("jobs", "platform"):
        for name, text in (file.values for file in files(top)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    for number, (name, fields) in enumerate(change.values for change in changes()):
        job = {**yaml.safe_load((folder / name).read_text()), **fields}
        (folder / "jobs" / "nlp" / f"changed-{number}.yaml").write_text(yaml.safe_dump(job, sort_keys=False))
    for _, _, text in blocks("python"):
        if "trainyard.specs import Job" in text:
            (folder / "jobs" / "nlp" / "rates.py").write_text(text)
    for number, text in enumerate(policies()):
        (folder / "policies" / f"from_the_docs_{number}.py").write_text(text)
    return folder


@pytest.fixture(scope="module")
def rendered(copy):
    """The copy after `trainyard synth`, committed."""
    done = call(copy, "synth")
    assert done.returncode == 0, done.stderr
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run([*GIT, *command], cwd=copy, check=True)
    return copy


@pytest.mark.node
@pytest.mark.slow
def test_what_the_docs_show_comes_out_and_runs(rendered, request):
    """Every job and cluster is loaded, rendered and admitted, every file is what comes out, every command runs.

    All in one test: what takes long is to render and to judge the clusters, which is done once.
    """
    shown = {file.values[0] for top in ("jobs", "platform") for file in files(top)}
    assert {"jobs/nlp/hello.yaml", "jobs/nlp/bert-large.yaml", "platform/clusters/demo.yaml"} <= shown
    changed = [f"changed-{number}" for number, _ in enumerate(changes())]
    for name in ("hello", "bert-large", "tiny", "rates-low", "rates-high", *changed):
        assert list(rendered.glob(f"generated/*/runs/nlp/{name}-????????")), name
    update = request.config.getoption("--update")
    same(rendered, update=update)
    same_findings(rendered, update=update)
    commands = list(lines())
    assert ("validation.md", "trainyard validate") in commands, "what is rendered is judged by a command of the docs"
    for page, line in {line: (page, line) for page, line in commands}.values():
        done = ran(line, rendered)
        assert done is None or done.returncode == 0, f"{page}: {line}: {done.stdout}{done.stderr}"


def test_the_job_that_the_readme_shows_is_at_hand():
    """Whoever reads it finds the same file, program included, and what comes out of it."""
    tops = ("jobs/nlp/hello.yaml", "generated/kind/runs/nlp/hello-")
    every = (file.values for top in ("jobs", "generated") for file in files(top))
    shown = {name: text for name, text in every if name.startswith(tops)}
    for name, text in shown.items():
        if CUT.search(text):
            continue
        own = [line for line in text.splitlines() if not line.startswith("#")]
        assert own == [line for line in (ROOT / name).read_text().splitlines() if not line.startswith("#")], name
    job = load(shown["jobs/nlp/hello.yaml"].encode(), file="hello")[0][0].value
    assert (ROOT / "jobs/programs" / job["program"]).is_file()
    assert any(name.startswith("generated/kind/runs/nlp/hello-") for name in shown)


def same(rendered, *, update):
    """Hold each generated file that the documentation shows, or its pieces, against the one that comes out."""
    for param in files("generated"):
        name, text = param.values
        shown, made = text.partition("\n")[2], (rendered / name).read_text()
        if CUT.search(shown):
            rest = made
            for piece in filter(None, CUT.split(shown)):
                before, found, rest = rest.partition(piece)
                assert found, f"{name} has no such lines behind those shown before:\n{piece}"
                assert before == "" or before.endswith("\n"), piece
            continue
        for page in PAGES if update else ():
            page.write_text(page.read_text().replace(shown, made))
        assert update or made == shown, name


def same_findings(rendered, *, update):
    """Make the edit that the README shows, and hold its findings against those that the command prints."""
    page = ROOT / "README.md"
    text = page.read_text()
    (edit,) = re.findall(r"^```diff\n# (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ((command, shown),) = re.findall(r"^```console\n\$ trainyard (.*?)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    path, before = rendered / edit[0], (rendered / edit[0]).read_text()
    path.write_text(edited(before, edit[1]))
    said = call(rendered, *command.split()).stdout
    path.write_text(before)
    for finding in shown.rstrip("\n").split("\n\n"):
        (rule,) = re.findall(r"\[[\w/-]+\]$", finding, re.MULTILINE)
        (made,) = (text for text in said.split("\n\n") if rule in text)
        if update:
            page.write_text(page.read_text().replace(finding, made))
        assert update or made == finding, said


def edited(text, diff):
    """Apply a diff that shows the changed lines alone."""
    for old, new in re.findall(r"^-(.*\n)(?:\+(.*\n))?", diff, re.MULTILINE):
        assert text.count(f"\n{old}") == 1, old
        text = text.replace(f"\n{old}", f"\n{new}")
    return text


def lines():
    """Every shell line of the documentation, with its page, but for those marked as needing a cluster or network."""
    for page, words, text in blocks("sh"):
        for line in text.splitlines():
            if words not in {"cluster", "network"}:
                assert line.startswith(("trainyard ", "make ", "grep ")), f"{page}: {line}"
                yield page, line


def ran(line, cwd):
    """Run one line, in this process where that can be, and leave the repository as it was; make runs in CI itself."""
    program, *words = line.split()
    if program == "make":
        assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
        return None
    if program == "grep":
        return subprocess.run([program, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if words[0] == "init":  # a pipeline is written to the top of a Git repository, which a folder in one is not
        return call(Path(tempfile.mkdtemp(dir=cwd.parent)), *words)
    if words[0] == "pipeline":
        return kfp(*words, cwd=cwd)
    done = call(cwd, *words)
    if subprocess.run([*GIT, "status", "--porcelain"], cwd=cwd, capture_output=True, check=True).stdout:
        for command in (["checkout", "-q", "."], ["clean", "-fdq"]):
            subprocess.run([*GIT, *command], cwd=cwd, check=True)
    return done


def kfp(*words, cwd):
    """Run the program with a Python that has the pipelines' SDK; without one, tests/pipelines says what is skipped."""
    python = os.environ.get("TRAINYARD_KFP")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform"), "CI": ""}
    command = [python, "-m", "trainyard", *words]
    return python and subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


PIPELINES = {
    "GitHub's": (".github/workflows/trainyard.yaml", "github/trainyard.yaml"),
    "GitLab's": (".gitlab-ci.yml", "gitlab/gitlab-ci.yml"),
}


@pytest.mark.parametrize(("shown", "written"), PIPELINES.values(), ids=PIPELINES)
def test_pipelines_of_the_docs_are_those_that_init_writes(shown, written):
    """The page has no pipeline of its own, which would grow old."""
    text = (ROOT / "platform/trainyard/faces/drafts/skeleton" / written).read_text().replace("@REVISION@", "main")
    assert [block for _, _, block in blocks("yaml") if block.startswith(f"# {shown}\n")] == [f"# {shown}\n{text}"]


def test_policies_of_the_docs_find_what_they_say(tmp_path):
    """The policies that the page shows find a flavor that does not exist, and pods that ask for too much."""
    for number, text in enumerate(policies()):
        (tmp_path / f"p{number}.py").write_text(text)
    manifests, _ = decode("a.yaml", WRONG)
    findings, _ = check(World(tuple(manifests)), usable(sorted(tmp_path.glob("*.py"))))
    assert [(finding.location.line, finding.message) for finding in findings] == [
        (6, "flavor 'h10' does not exist; did you mean 'h100'?"),
        (15, "nvidia.com/gpu is 9, but no node has more than 8"),
    ]


def test_the_policy_in_cel_of_the_page_is_whole(tmp_path):
    """What the page shows is a policy once `make policies` has written what is common into it."""
    (text,) = [text for _, _, text in blocks("yaml") if "# common: " in text]
    (path := tmp_path / "no-host-pid.yaml").write_text(text)
    assert tool("policies.py", path).returncode == 0
    (policy,) = usable([path])
    binding = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n"
    binding += f"metadata: {{name: own}}\nspec: {{policyName: {policy.id}, validationActions: [Deny]}}\n"
    pod = {"hostPID": True, "restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"spec": pod}}}
    inputs = [(path.name, path.read_bytes()), ("a.yaml", binding.encode()), ("a.json", json.dumps(job).encode())]
    result = strangers(inputs, ROOT / "schemas", kubernetes="1.35")
    found = [(finding.path, finding.message) for finding in result.findings]
    message = "pods share the processes of their node; remove hostPID"
    assert found == [("spec.template.spec.hostPID", message)]


WRONG = b"""\
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: h100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec: {resourceGroups: [{flavors: [{name: h100}, {name: h10}]}, 5]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: llm, namespace: nlp}
spec:
  template:
    spec:
      containers:
      - resources: {limits: {nvidia.com/gpu: 9}, requests: 5}
"""


@pytest.mark.parametrize(
    ("page", "text"),
    [
        pytest.param(page, text, id=f"{page}-{number}")
        for number, (page, _, text) in enumerate(blocks("yaml"))
        if re.search(r"^kind: ", text, re.MULTILINE) and "apiVersion" in text and not CUT.search(text)
    ],
)
def test_yaml_of_the_docs_is_valid(page, text, tmp_path):
    """Every Kubernetes object that the documentation shows would be admitted, a policy once `make policies` has run."""
    (path := tmp_path / page).write_text(text)
    if "# common: " in text:
        assert tool("policies.py", path).returncode == 0
    result = strangers([(page, path.read_bytes())], ROOT / "schemas", kubernetes="1.35")
    assert not [finding.message for finding in result.findings if finding.is_error]


def fragments():
    """What the documentation shows of a file that has more: the page, the file, the fields."""
    for number, (page, _, text) in enumerate(blocks("yaml")):
        if named := re.match(r"# in platform/(\S+)\n", text):
            yield pytest.param(named[1], text, id=f"{page}-{number}")


WHOLE = {
    "clusters/<name>.yaml": (
        Cluster,
        (ROOT / "docs/clusters.md").read_text().partition("```yaml\n")[2].partition("```")[0],
    ),
    "repository.yaml": (Repository, (ROOT / "platform/repository.yaml").read_text()),
}
"""The file that the fields of a page are put into, and what reads it."""


@pytest.mark.parametrize(("name", "text"), list(fragments()))
def test_fields_of_the_docs_exist(name, text):
    """A part of a file has fields and values that such a file may have."""
    model, whole = WHOLE[name]
    assert model.model_validate({**yaml.safe_load(whole), **yaml.safe_load(text)})


def test_the_page_on_launchers_names_launchers_kinds_and_roles_that_exist():
    """What the table of fields names can be written; a launcher or a kind that is new has its own text."""
    page = (ROOT / "docs/launchers.md").read_text()
    known = {
        "launcher": {"python", "torchrun", "tensorflow", "mpirun"},
        "kind": {"Job", "JobSet", "TFJob", "MPIJob", "VolcanoJob", "LeaderWorkerSet"},
        "roles": {"chief", "ps", "evaluator", "launcher"},
    }
    roles = {name for launcher in launchers().values() for name in launcher.role_names}
    assert known["launcher"] <= set(launchers())
    assert known["kind"] <= set(kinds())
    assert known["roles"] <= roles
    assert not [name for names in known.values() for name in sorted(names) if f"`{name}`" not in page]


def test_tests_that_the_docs_name_exist():
    """A page that says what is tested names the test."""
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for name in re.findall(r"\btests/[\w/]+\.py", page.read_text()):
            assert (ROOT / name).is_file(), f"{page.name}: {name}"


def test_the_program_of_the_page_judges():
    """The program that the page on the API server's verdict shows judges objects, with what they say of each other."""
    (text,) = [text for _, _, text in blocks("python") if "trainyard.upstream.apiserver import" in text]
    value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": 5}}
    manifests, _ = decode("a.json", json.dumps(value).encode())
    found: dict[str, Any] = {"schemas": ROOT / "schemas", "manifests": manifests}
    exec(compile(text, "apiserver.md", "exec"), found)
    assert [judgement.verdict for judgement in found["judgements"]] == ["invalid"]


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_place_of_the_architecture_exists():
    """Each `module.py:name` and each module or folder that the page names is there."""
    package = ROOT / "platform" / "trainyard"
    places = re.findall(r"`([a-z_/]+/(?:[a-z_0-9]+\.py(?::\w+)?)?)`", ARCHITECTURE)
    assert len(places) > 20
    for place in places:
        path, _, name = place.partition(":")
        file = next((top / path for top in (package, ROOT) if (top / path).exists()), None)
        assert file, place
        assert not name or re.search(rf"^(def|class) {name}\b", file.read_text("utf-8"), re.MULTILINE), place


def test_the_architecture_shows_the_wings_that_lint_enforces():
    """The page, the contracts and the folders agree, down to the packages of each wing."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (shown,) = re.findall(r"^```\n(kinds .*?)^```$", ARCHITECTURE, re.MULTILINE | re.DOTALL)
    assert shown.split("\n")[:-1] == contracts[0]["layers"]
    package = ROOT / "platform" / "trainyard"
    rows = dict(re.findall(r"^\| `(\w+)` \|(.*)\|$", ARCHITECTURE.partition("## Wings")[2], re.MULTILINE))
    assert set(rows) == {path.name for path in package.iterdir() if path.is_dir() and not path.name.startswith("_")}
    for contract in contracts:
        wing = contract.get("containers", ["trainyard"])[0].removeprefix("trainyard").removeprefix(".")
        if wing and wing not in ("base", "specs"):
            names = {name for line in contract["layers"] for name in re.split(r" [|:] ", line)}
            assert names <= set(re.findall(r"`(\w+)`", rows[wing])), wing


def test_tests_are_where_the_architecture_says():
    """A folder of tests is a folder of the package without its wing, or has a row of its own on the page."""
    package, tests = ROOT / "platform" / "trainyard", ROOT / "tests"
    section = ARCHITECTURE.partition("## A module's test")[2].partition("\n## ")[0]
    rows = [re.findall(r"`([^`]+)`", row) for row in re.findall(r"^\| (.*) \|$", section, re.MULTILINE)]
    named = {name.removeprefix("tests/").rstrip("/") for row in rows for name in row}
    folders = {path.parent.relative_to(tests).as_posix() for path in tests.glob("*/**/test_*.py")}
    assert not [
        name for name in folders - named if not list(package.glob(name)) and not list(package.glob(f"*/{name}"))
    ]
    for name in named:
        assert list(tests.glob(name)) or list(package.glob(name)) or list(ROOT.glob(name)), name


def test_every_layer_of_a_finding_has_its_row():
    """Whoever reads a finding finds where its rules are."""
    table = ARCHITECTURE.partition("| Layer of the finding")[2].partition("\n\n")[0]
    named = {name for row in re.findall(r"^\| (.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert named == set(get_args(Layer))


def test_the_field_of_the_architecture_ends_where_it_says():
    """The byte that the page follows is in the tree."""
    (file,) = ROOT.glob("generated/atlas/runs/nlp/llama3-8b-????????/jobset.*.yaml")
    assert 'nvidia.com/gpu: "8"' in file.read_text("utf-8")
    assert "gpusPerNode: 8" in (ROOT / "jobs/nlp/llama3-8b.yaml").read_text("utf-8")
