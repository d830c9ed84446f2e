"""Findings on frozen runs: a stricter rule is a warning, what a change breaks is an error where the change is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command import call
from conftest import ROOT
from make import CLUSTER, JOB, TEAM, write_repository
from repo import Repo
from trainyard import __version__
from trainyard.base.findings import Finding, Location, Severity
from trainyard.base.system import git as system_git
from trainyard.change.synth import session
from trainyard.judge.checks.repository import validate_repository
from trainyard.judge.frozen import Frozen
from trainyard.judge.preflight import check_repository
from trainyard.render.tree import ledger
from trainyard.render.tree.commit import Base
from trainyard.render.tree.snapshot import from_git
from trainyard.render.tree.wanted import wanted_entry

pytestmark = pytest.mark.node

CHECKPOINT = {"volume": "checkpoints", "size": "10Gi"}


def synth(repo: Repo) -> tuple[Finding, ...]:
    """Synthesise as the command does, and return what was found."""
    outcome = session.run(repo.root, __version__)
    if outcome.work is not None and not outcome.refused:
        list(outcome.work.write())
        outcome.save()
    return outcome.findings


def errors(findings: tuple[Finding, ...]) -> list[str]:
    """Return the errors, with their places."""
    return [f"{finding.location.file}: {finding.message}" for finding in findings if finding.is_error]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a live repository whose job `train` runs on main, and go to a branch."""
    repo = Repo(tmp_path_factory.mktemp("first") / "repo")
    write_repository(repo.root, jobs={"nlp/train": {**JOB, "checkpoint": CHECKPOINT}})
    assert synth(repo) == ()
    repo.commit()
    repo.git("switch", "-qc", "work")
    return repo


def run_of(repo: Repo) -> str:
    """Return the name of the run of `train`."""
    return next((repo.root / "generated/test/runs/nlp").glob("train-*")).name


def jobs(*more: str) -> dict[str, dict[str, Any]]:
    """Return the job that runs, and others."""
    return {"nlp/train": {**JOB, "checkpoint": CHECKPOINT}, **{name: {**JOB, "nodes": 1} for name in more}}


QUEUES = {"other": CLUSTER["queues"]["research"]}

REMOVALS: dict[str, tuple[dict[str, Any], str, str]] = {
    "a queue": ({"clusters": {"test": {**CLUSTER, "queues": QUEUES}}}, "clusters/test", "queue 'research'"),
    "a priority": ({"clusters": {"test": {**CLUSTER, "priorities": {"low": 0}}}}, "clusters/test", "priority 'normal'"),
    "a volume": ({"teams": {"nlp": {**TEAM, "volumes": {}}}}, "teams/nlp", "volume 'checkpoints'"),
    "a pool that is renamed": (
        {
            "clusters": {
                "test": {
                    **CLUSTER,
                    "pools": {"big": CLUSTER["pools"]["gpu"], "cpu": CLUSTER["pools"]["cpu"]},
                    "queues": {"research": {"teams": ["nlp"], "nominalQuota": {"big": {"gpus": 32}}}},
                }
            }
        },
        "clusters/test",
        "pool 'gpu'",
    ),
}


@pytest.mark.parametrize(("changes", "file", "what"), REMOVALS.values(), ids=REMOVALS)
def test_removing_what_a_run_needs_is_an_error_at_the_change(repo: Repo, changes, file: str, what: str) -> None:
    """The sentence names the run, and the place is the file that was changed."""
    write_repository(repo.root, **{"jobs": jobs(), **changes})
    found = errors(synth(repo))
    assert any(
        item.startswith(f"platform/{file}.yaml: this change breaks {run_of(repo)}: ") and what in item for item in found
    ), found


TRAINER = {**CLUSTER["operators"], "trainer": {"version": "2.3.0"}}
ON_RUNTIME = {"nlp/train": {**JOB, "kind": "TrainJob", "runtime": "torch"}}
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  mlPolicy: {numNodes: 1}
  template:
    spec:
      failurePolicy: {maxRestarts: 9}
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            backoffLimit: 0
            template:
              spec:
                automountServiceAccountToken: false
                enableServiceLinks: false
                restartPolicy: Never
                terminationGracePeriodSeconds: 900
                containers:
                - {name: node, imagePullPolicy: IfNotPresent, terminationMessagePolicy: FallbackToLogsOnError}
"""
RUNTIMES = {
    "another": (
        ("maxRestarts: 9", "maxRestarts: 7"),
        "runtime 'torch' is changed on 'test', but runs need the old one",
    ),
    "gone": (
        ("name: torch}", "name: torch-2}"),
        "runtime 'torch' is not in platform/extra/test",
    ),
}


@pytest.mark.parametrize(("edit", "said"), RUNTIMES.values(), ids=RUNTIMES)
def test_a_runtime_that_a_run_names_stays_as_it_is(tmp_path: Path, edit: tuple[str, str], said: str) -> None:
    """Kueue counts pods by the runtime as it is: one that is edited stops the run, one that is gone breaks it."""
    repo = Repo(tmp_path / "repo")
    write_repository(repo.root, jobs=ON_RUNTIME, clusters={"test": {**CLUSTER, "operators": TRAINER}})
    file = repo.root / "platform/extra/test/platform/torch.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(RUNTIME)
    assert errors(synth(repo)) == []
    repo.commit()
    repo.git("switch", "-qc", "work")
    assert errors(synth(repo)) == []
    file.write_text(RUNTIME.replace(*edit))
    assert any(said in one_error for one_error in errors(synth(repo))), errors(synth(repo))


def test_a_job_whose_room_a_change_takes_is_judged_all_the_same(repo: Repo) -> None:
    """The error is told once, at the cluster or as a warning of the base, and the verdict says what would fit."""
    queue = {**CLUSTER["queues"]["research"], "nominalQuota": {"gpu": {"gpus": 8}, "cpu": {"nodes": 4}}}
    write_repository(repo.root, jobs=jobs(), clusters={"test": {**CLUSTER, "queues": {"research": queue}}})
    for word in ("error: this change breaks", "warning: job needs"):
        done = call(repo.root, "admit", "--format", "json")
        (found,) = json.loads(done.stdout)
        assert (found["verdict"], found["changes"]) == ("never fits", ["nodes: 1", "gpusPerNode: 4"])
        assert word in done.stderr
        assert (done.stderr.count("[kq-max-quota"), done.stderr.count("[kq-never-fits")) == (1, 0), done.stderr
        repo.commit()
        repo.git("branch", "-f", "main", "work")


def older_job(repo: Repo) -> None:
    """Leave a job on main that an older release took, and this one refuses."""
    repo.git("switch", "-q", "main")
    path = repo.root / "jobs/nlp/train.yaml"
    path.write_text(path.read_text() + "colour: red\n")
    repo.commit()
    repo.git("switch", "-qC", "work")


def test_a_stricter_rule_does_not_stop_the_repository(repo: Repo) -> None:
    """What stood at the base is a warning, its run stays as it is, and other jobs can be added."""
    older_job(repo)
    run = run_of(repo)
    before = {path: path.read_bytes() for path in (repo.root / "generated/test/runs/nlp" / run).iterdir()}
    repo.put("jobs/nlp/new.yaml", (repo.root / "jobs/nlp/train.yaml").read_text().replace("colour: red\n", "run: 2\n"))
    found = synth(repo)
    assert errors(found) == []
    assert [(item.frozen, item.location.file) for item in found] == [(True, "jobs/nlp/train.yaml")]
    assert {path: path.read_bytes() for path in before} == before
    assert list((repo.root / "generated/test/runs/nlp").glob("new-*"))


def test_a_stricter_rule_beside_another_change_of_the_cluster_is_a_warning(repo: Repo) -> None:
    """The cluster changes too, but the finding was there before it."""
    older_job(repo)
    text = (repo.root / "jobs/nlp/train.yaml").read_text()
    write_repository(repo.root, clusters={"test": {**CLUSTER, "priorities": {**CLUSTER["priorities"], "urgent": 5000}}})
    repo.put("jobs/nlp/train.yaml", text)
    found = synth(repo)
    assert errors(found) == []
    assert [item.frozen for item in found] == [True]


def test_an_old_error_whose_sentence_changes_is_a_warning_still(repo: Repo) -> None:
    """What the sentence lists beside the field's value is another queue's business."""
    repo.git("switch", "-q", "main")
    path = repo.root / "jobs/nlp/train.yaml"
    path.write_text(path.read_text().replace("queue: research", "queue: nowhere"))
    repo.commit()
    repo.git("switch", "-qC", "work")
    text = path.read_text()
    other = {**QUEUES["other"], "nominalQuota": {"gpu": {"gpus": 0}}}
    write_repository(repo.root, clusters={"test": {**CLUSTER, "queues": {**CLUSTER["queues"], "other": other}}})
    path.write_text(text)
    (found,) = synth(repo)
    assert (found.rule, found.frozen, found.is_error) == ("spec/unknown-queue", True, False)
    assert found.message.endswith("; did you mean 'other'?")


def test_a_job_that_breaks_another_one_is_an_error_at_its_file(repo: Repo) -> None:
    """A job takes the file of one that runs for a small file of its own: that one would be no job any more."""
    write_repository(repo.root, jobs=jobs("nlp/new", "ads/other"))
    path = repo.root / "jobs/nlp/new.yaml"
    path.write_text(path.read_text() + "files: [{source: train.yaml, mountPath: /etc/a}]\n")
    (found,) = [item for item in synth(repo) if item.rule == "spec/job-as-file"]
    assert (str(found.location), found.frozen, found.is_error) == ("jobs/nlp/new.yaml:1:1", False, True)
    assert found.message.startswith(f"this change breaks {run_of(repo)}: ")


SWEEP = f"""from trainyard.specs import Job

def jobs():
    for nodes in (1, 2):
        yield f"sweep-{{nodes}}", Job.model_validate({{**{JOB!r}, "nodes": nodes}})
"""


def test_of_a_program_s_runs_a_finding_names_its_own(repo: Repo) -> None:
    """One of two jobs needs more than is left: the other run is not said to break."""
    repo.git("switch", "-q", "main")
    write_repository(repo.root, jobs=jobs(), teams={"nlp": {**TEAM, "python": True}})
    repo.put("jobs/nlp/sweep.py", SWEEP)
    assert synth(repo) == ()
    repo.commit()
    repo.git("switch", "-qC", "work")
    queue = {**CLUSTER["queues"]["research"], "nominalQuota": {"gpu": {"gpus": 8}, "cpu": {"nodes": 4}}}
    clusters = {"test": {**CLUSTER, "queues": {"research": queue}}}
    write_repository(repo.root, jobs=jobs(), teams={"nlp": {**TEAM, "python": True}}, clusters=clusters)
    found = [one_error for one_error in errors(synth(repo)) if "sweep" in one_error]
    assert len(found) == 1
    assert "in job 'sweep-2', job needs 16 nvidia.com/gpu" in found[0]
    assert "sweep-1" not in found[0]


def test_an_edited_job_has_to_follow_the_stricter_rule(repo: Repo) -> None:
    """Whoever touches the file mends it."""
    older_job(repo)
    path = repo.root / "jobs/nlp/train.yaml"
    path.write_text(path.read_text() + "# a comment\n")
    assert len(errors(synth(repo))) == 1


def test_a_small_file_that_changed_makes_the_findings_of_its_job_errors(repo: Repo) -> None:
    """The run is another one, although the job's file is as it was."""
    repo.git("switch", "-q", "main")
    files = [{"source": "config/a.txt", "mountPath": "/etc/a"}]
    write_repository(repo.root, jobs={"nlp/train": {**JOB, "files": files}})
    repo.put("jobs/nlp/config/a.txt", "one")
    synth(repo)
    repo.commit()
    repo.git("switch", "-qC", "work")
    (repo.root / "jobs/nlp/config/a.txt").write_bytes(b"\xff\xfe")
    assert len(errors(synth(repo))) == 1


def test_without_a_base_every_finding_is_an_error(tmp_path: Path) -> None:
    """A new repository has no frozen runs."""
    repo = Repo(tmp_path / "repo")
    write_repository(repo.root, jobs={"nlp/train": {**JOB, "queue": "nowhere"}})
    assert len(errors(synth(repo))) == 1


OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
FILE = "generated/dev/runs/nlp/a-1/configmap.a.yaml"


@pytest.fixture
def tree(tmp_path: Path) -> Repo:
    """Make a repository of one generated run, which exists at the base."""
    repo = Repo(tmp_path / "repo")
    repo.put(FILE, OBJECT)
    repo.put("generated/dev/platform/x.yaml", OBJECT)
    repo.put("platform/clusters/dev.yaml", "")
    repo.commit()
    return repo


def error(message: str = "wrong", file: str = FILE) -> Finding:
    """Return an error on a generated file."""
    return Finding("some-rule", "policy", message, Location(file, 1, 1))


def sort(repo: Repo, finding: Finding, before: list[Finding] | None) -> Finding:
    """Return a finding in its place, given what is found at the base; None: nobody may look there."""

    def find(folder: Path, clusters: Sequence[str]) -> list[Finding]:
        assert before is not None
        assert clusters == ["dev"]
        assert (folder / FILE).read_text() == OBJECT
        return before

    git = system_git.find(repo.root)
    assert git is not None
    return Frozen(repo.root, git, from_git(git, Base(git.head())), find).sort([finding])[0]


PLATFORM = "generated/dev/platform/x.yaml"
OBJECTS = {
    "the base has the same error": ([error()], error(), Severity.WARNING),
    "the base has another error": ([error("other")], error(), Severity.ERROR),
    "the base has none": ([], error(), Severity.ERROR),
    "the file is no run's": (None, error(file=PLATFORM), Severity.ERROR),
}


@pytest.mark.parametrize(("before", "now", "severity"), OBJECTS.values(), ids=OBJECTS)
def test_an_object_of_a_frozen_run_keeps_the_errors_of_the_base_as_warnings(tree: Repo, before, now, severity) -> None:
    """An error on a frozen run fails only where the change causes it; else it is a warning, marked."""
    found = sort(tree, now, before)
    assert (found.severity, found.frozen) == (severity, severity is Severity.WARNING)


def test_what_a_change_of_the_cluster_breaks_is_said_where_the_cluster_changed(tree: Repo) -> None:
    """Of an object as of a job's file: the sentence names the run, the place is the change, and the object is kept."""
    tree.put("platform/clusters/dev.yaml", "kubernetes: '1.36'\n")
    found = sort(tree, error(), [])
    assert str(found.location) == "platform/clusters/dev.yaml:1:1"
    assert found.message == "this change breaks a-1: wrong"
    assert str(found.spec) == f"{FILE}:1:1"


def test_an_object_that_changed_is_not_frozen(tree: Repo) -> None:
    """A run whose file differs from the base keeps its errors; nobody looks at the base."""
    tree.put(FILE, OBJECT + "# changed\n")
    assert sort(tree, error(), None).is_error


def test_an_old_error_in_the_specs_hides_no_other_in_the_tree(repo: Repo) -> None:
    """`validate` takes what stood in a frozen job's file for a warning, as `synth` does, and judges the objects."""
    older_job(repo)
    (repo.root / ".tools").symlink_to(ROOT / ".tools")
    result = validate_repository(repo.root)
    assert [
        (finding.severity, finding.frozen) for finding in result.findings if finding.location.file.startswith("jobs/")
    ] == [(Severity.WARNING, True)]
    assert result.objects


def crossing(repo: Repo, base: str) -> list[tuple[str, str]]:
    """Return rule and severity of what is said across the lines of a team, compared with a branch."""
    result = validate_repository(repo.root, base=base, second=False)
    return [
        (finding.rule, finding.severity.value) for finding in result.findings if finding.rule.startswith("run/tenant-")
    ]


def test_an_edited_run_crosses_no_line_whatever_the_base_is(repo: Repo) -> None:
    """A branch that holds the edit already, and is named as the base, makes no warning of it."""
    (path,) = (repo.root / "generated/test/runs/nlp").glob("train-*/jobset.*.yaml")
    text = path.read_text()
    assert text.count("          spec:\n") == 1
    path.write_text(text.replace("          spec:\n", "          spec:\n            hostPID: true\n", 1))
    repo.commit()
    repo.git("branch", "evil")
    repo.git("commit", "-q", "--allow-empty", "-m", "more")
    assert crossing(repo, "evil") == [("run/tenant-host", "error")]
    assert crossing(repo, "main") == [("run/tenant-host", "error")]


def test_a_line_that_is_drawn_closer_is_a_warning_on_runs_that_are_there(repo: Repo) -> None:
    """What a merged job asks for was reviewed: the run goes on, and the next one is refused; on a branch it was not."""
    own = {"object": "Pod", "merge": {"spec": {"hostPID": True}}, "reason": "r"}
    write_repository(repo.root, jobs={"nlp/train": {**JOB, "checkpoint": CHECKPOINT, "patches": [own]}})
    (path,) = (repo.root / "generated/test/runs/nlp").glob("train-*/jobset.*.yaml")
    path.write_text(path.read_text().replace("          spec:\n", "          spec:\n            hostPID: true\n", 1))
    ledger_file = repo.root / "generated/test/ledger/nlp/train.json"
    (spec,) = [job for job in check_repository(repo.root).specs.jobs if job.name == "train"]
    entries = ledger.load(ledger_file.read_bytes())
    ledger_file.write_text(ledger.dump([replace(entry, spec=wanted_entry(spec).spec) for entry in entries or ()]))
    repo.commit()
    repo.git("branch", "before")
    repo.git("commit", "-q", "--allow-empty", "-m", "more")
    assert {severity for _, severity in crossing(repo, "before")} == {"error"}
    repo.git("branch", "-f", "main", "before")
    found = crossing(repo, "before")
    assert found
    assert {severity for _, severity in found} == {"warning"}
