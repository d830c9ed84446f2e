"""A plan that remembers judges the runs that a change brings, and refuses what one without memory would."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command import call as trainyard
from conftest import ROOT
from make import JOB, write_repository
from plan.own_policies import DIFFER, FEW, PIN
from repo import Repo
from trainyard.base.findings import Finding, Location, ObjectRef, Skipped
from trainyard.base.memory import Memory, World
from trainyard.base.system import files as system_files
from trainyard.base.system import reads
from trainyard.base.system.cache import Cache
from trainyard.judge.checks import validate
from trainyard.judge.checks.result import Judged, Result
from trainyard.judge.checks.verdicts import Known, join_known, parts
from trainyard.render.tree.snapshot import Snapshot

JOBS: dict[str, dict[str, Any]] = {
    f"nlp/job-{number}": {**JOB, "nodes": 1, "image": PIN.format(number + 1)} for number in range(4)
}


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Make a live repository of four jobs with a policy of its own, planned once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    repo = Repo(tmp_path / "repo")
    write_repository(repo.root, jobs=JOBS)
    repo.put("policies/own-few.yaml", FEW.format(most=3))
    assert done(repo, "synth") == 0
    repo.commit()
    repo.git("switch", "-qc", "work")
    assert done(repo, "plan") == 0
    return repo


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect the names of the objects that are read to be judged."""
    found: list[str] = []
    before = validate.decode_all

    def noted(inputs: Any, result: Any) -> Any:
        manifests = before(inputs, result)
        found.extend(manifest.name for manifest in manifests)
        return manifests

    monkeypatch.setattr(validate, "decode_all", noted)
    return found


def done(repo: Repo, *arguments: str) -> int:
    """Return the exit code of a command, which remembers in the cache of the test."""
    return trainyard(repo.root, *arguments, XDG_CACHE_HOME=os.environ["XDG_CACHE_HOME"]).returncode


def change(repo: Repo, **fields: Any) -> None:
    """Change the second job, and render."""
    write_repository(repo.root, jobs={**JOBS, "nlp/job-1": {**JOBS["nlp/job-1"], **fields}})
    assert done(repo, "synth") == 0


def jobs_of(read: list[str]) -> set[str]:
    """Return the jobs whose objects were read."""
    return {name[:5] for name in read if name.startswith("job-")}


@pytest.mark.node
@pytest.mark.slow
def test_a_changed_run_is_judged_alone(repo: Repo, read: list[str]) -> None:
    """What passed beside the same platform is not read again; what a policy refuses is, and refuses the plan."""
    change(repo, nodes=2)
    assert done(repo, "plan") == 0
    assert jobs_of(read) == {"job-1"}
    read.clear()
    assert done(repo, "plan") == 0
    assert not read
    change(repo, nodes=4)
    assert done(repo, "plan") == 1
    change(repo, nodes=2)
    read.clear()
    assert done(repo, "plan") == 0
    assert not read


DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: notes.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Note, plural: notes}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""


@pytest.mark.node
@pytest.mark.slow
@pytest.mark.parametrize("command", ["plan", "check", "validate"])
def test_nothing_is_judged_twice(repo: Repo, read: list[str], command: str) -> None:
    """With the second engine, and a kind that the repository defines: what one command found, the next one knows."""
    (repo.root / ".tools").symlink_to(ROOT / ".tools")
    repo.put("platform/extra/test/platform/definition.yaml", DEFINITION)
    assert done(repo, "synth") == 0
    assert done(repo, "check") == 0
    read.clear()
    assert done(repo, command) == 0
    assert not read


@pytest.mark.node
@pytest.mark.slow
def test_another_policy_judges_every_run(repo: Repo, read: list[str]) -> None:
    """One run among all that passed before is refused by a stricter policy."""
    change(repo, nodes=2)
    assert done(repo, "plan") == 0
    repo.put("policies/own-few.yaml", FEW.format(most=2))
    read.clear()
    assert done(repo, "plan") == 1
    assert {"job-0", "job-1", "job-2", "job-3"} <= jobs_of(read)


@pytest.mark.node
@pytest.mark.slow
def test_a_policy_that_compares_runs_sees_all(repo: Repo, read: list[str]) -> None:
    """The new image is that of a run which did not change."""
    repo.put("policies/own_compares.py", DIFFER)
    assert done(repo, "synth") == 0
    assert done(repo, "plan") == 0
    change(repo, image=PIN.format(3))
    read.clear()
    assert done(repo, "plan") == 1
    assert {"job-0", "job-1", "job-2", "job-3"} <= jobs_of(read)


def tree(**files: str) -> Snapshot:
    """Return a tree of one cluster's files, with two underscores for a slash."""
    return Snapshot({f"c/{name.replace('__', '/')}.yaml": oid for name, oid in files.items()})


BEFORE = {"runs__t__one-a__job": "1", "runs__t__two-b__job": "2", "platform__queue": "3"}


@pytest.mark.parametrize(
    ("files", "olds", "same"),
    [
        (BEFORE, (), {"c/runs/t/one-a", "c/runs/t/two-b"}),
        ({**BEFORE, "runs__t__two-b__job": "9"}, (), {"c/runs/t/one-a"}),
        ({**BEFORE, "runs__t__two-b__service": "9"}, (), {"c/runs/t/one-a"}),
        ({**BEFORE, "runs__t__three-c__job": "9"}, (), {"c/runs/t/one-a", "c/runs/t/two-b"}),
        (BEFORE, (("generated/c/runs/t/two-b/job.yaml", b"old"),), set()),
        (BEFORE, (("generated/c/runs/t/gone-b/job.x.yaml", b"old"),), {"c/runs/t/one-a", "c/runs/t/two-b"}),
        ({**BEFORE, "platform__queue": "9"}, (), None),
        ({**BEFORE, "runs__t__two-b__persistentvolumeclaim": "9"}, (), None),
        (BEFORE, (("generated/c/platform/queue.yaml", b"old"),), None),
    ],
)
def test_what_counts_for_a_verdict(
    files: dict[str, str], olds: tuple[tuple[str, bytes], ...], same: set[str] | None, tmp_path: Path
) -> None:
    """A run counts for itself; what is no run's, and what other runs may use, counts for all."""
    read = tmp_path / "read"
    read.write_text("1")

    def memory() -> Memory:
        return Memory(Cache(tmp_path / "cache"), World())

    with reads.recording(World()) as record:
        system_files.read(read)

    def runs(judges: str = "two engines") -> frozenset[str] | None:
        known = parts("c", tree(**files), olds, judges).load(memory())
        return None if known is None else known.runs

    first = parts("c", tree(**BEFORE), (), "two engines")
    first.keep(memory(), record.common, Result(), unsteady=(), compares=False)
    assert runs() == same
    assert runs("one engine") is None
    read.write_text("2")
    assert runs() is None


FILE = "generated/c/runs/t/one-a/job.yaml"
JOB_REF = ObjectRef("batch/v1", "Job", "t", "one")
FINDING = Finding("rule", "policy", "message", Location(FILE, 3, 5, 0), object=JOB_REF, path="spec", fix="mend")


def kept(tmp_path: Path, result: Result, **how: Any) -> Known | None:
    """Keep a result, and return what is known of the same tree then."""
    memory = Memory(Cache(tmp_path / "cache"), World())
    named = parts("c", tree(**BEFORE), ())
    named.keep(memory, {}, result, **{"unsteady": (), "compares": False, **how})
    return named.load(Memory(Cache(tmp_path / "cache"), World()))


def test_verdicts_come_back(tmp_path: Path) -> None:
    """An object, a finding and a skipped check are the same after they were kept; lines of specs are looked up anew."""
    judged = Judged(FILE, 0, JOB_REF, "invalid", line=1)
    result = Result([judged], [replace(FINDING, spec=Location("jobs/t/one.yaml", 2))], [Skipped("rule", "why")])
    known = kept(tmp_path, result)
    assert known is not None
    assert join_known(known, Result()) == Result([judged], [FINDING], [Skipped("rule", "why")])


def test_what_waivers_decide_is_not_remembered(tmp_path: Path) -> None:
    """Of a run on which a policy may be waived nothing is kept; if it is not a run's object, nothing is kept at all."""
    result = Result([Judged(FILE, 0, JOB_REF, "valid")])
    known = kept(tmp_path, result, unsteady=("c/runs/t/one-a",))
    assert known is not None
    assert known.runs == {"c/runs/t/two-b"}
    assert kept(tmp_path / "other", result, unsteady=("",)) is None


def test_an_object_that_counts_for_other_runs_is_not_lost(tmp_path: Path) -> None:
    """A run's folder with nothing but a claim is no part of its own, so that nothing is remembered beside it."""
    claim = "generated/c/runs/t/three-c/persistentvolumeclaim.yaml"
    assert kept(tmp_path, Result([Judged(claim, 0, JOB_REF, "invalid")])) is None


def test_what_compares_runs_is_known_of_all_or_none(tmp_path: Path) -> None:
    """With one run changed, a policy that compares runs may say something else of the others."""
    memory = Memory(Cache(tmp_path / "cache"), World())
    parts("c", tree(**BEFORE), ()).keep(memory, {}, Result(), unsteady=(), compares=True)
    assert parts("c", tree(**BEFORE), ()).load(memory) is not None
    assert parts("c", tree(**{**BEFORE, "runs__t__two-b__job": "9"}), ()).load(memory) is None


TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    "result",
    [
        Result(values={TOKEN}),
        Result([Judged(FILE, 0, replace(JOB_REF, name=TOKEN), "valid")]),
        Result(findings=[replace(FINDING, object=replace(JOB_REF, name=TOKEN))]),
    ],
    ids=["in an object", "in the name of an object", "in the name that a finding tells"],
)
def test_no_credential_is_kept(tmp_path: Path, result: Result) -> None:
    """What reports hide is not written to the cache."""
    assert kept(tmp_path, result) is None
    assert not any(TOKEN.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
