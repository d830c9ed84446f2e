"""What is remembered changes how fast a synth is, never what it writes."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from conftest import ROOT
from make import CLUSTER, JOB, REPOSITORY, TEAM, UNLISTED, write_repository
from repo import ENV, Repo
from trainyard import __version__
from trainyard.base.memory import World, code
from trainyard.base.system import cache
from trainyard.base.system.data import TYPES
from trainyard.change.synth import session, start
from trainyard.change.synth.session import Outcome
from trainyard.render.tree.disk import Disk

pytestmark = [pytest.mark.node, pytest.mark.slow]

CLUSTERS = {
    name: {**CLUSTER, "argocd": {**CLUSTER["argocd"], "destination": {"name": name}}} for name in ("test", "eu")
}


def synth(root: Path) -> Outcome:
    """Synthesise as the command does."""
    outcome = session.run(root, __version__)
    assert not outcome.refused, outcome.findings
    assert outcome.work is not None
    list(outcome.work.write())
    outcome.save()
    return outcome


def rendered(root: Path) -> int:
    """Synthesise and return how many files were written."""
    work = synth(root).work
    assert work is not None
    return len(work.changes.write)


def stale(root: Path) -> list[str]:
    """Return what differs from a synth that remembers nothing."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}):
        outcome = session.run(root, __version__)
        assert outcome.work is not None
        return list(outcome.work.diff())


class Editor:
    """Edits a repository at random, always so that it stays valid."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.random = random.Random(seed)
        self.jobs: dict[str, dict[str, Any]] = {f"nlp/job{number}": {**JOB, "nodes": 1} for number in range(4)}
        self.clusters: dict[str, dict[str, Any]] = {name: dict(value) for name, value in CLUSTERS.items()}
        self.team = dict(TEAM)
        self.count = 0
        self.write()

    def write(self) -> None:
        """Write all specs."""
        shutil.rmtree(self.root / "jobs", ignore_errors=True)
        write_repository(
            self.root,
            jobs=self.jobs,
            clusters=self.clusters,
            teams={"nlp": self.team},
            repository={**REPOSITORY, "live": False},
        )
        (self.root / "jobs/nlp/config").mkdir(parents=True, exist_ok=True)
        (self.root / "jobs/nlp/config/a.yaml").write_text(f"number: {self.count}\n")

    def step(self) -> str:
        """Make one edit and return its name."""
        edits: list[Callable[[], None]] = [
            self._change_job,
            self._add_job,
            self._delete_job,
            self._small_file,
            self._move_job,
            self._change_cluster,
            self._change_team,
            self._tamper,
            self._lose,
            self._nothing,
        ]
        self.count += 1
        edit = self.random.choice(edits)
        edit()
        return edit.__name__

    def any_job(self) -> dict[str, Any]:
        """Return one of the jobs."""
        return self.jobs[self.random.choice(sorted(self.jobs))]

    def _change_job(self) -> None:
        self.any_job()["args"] = [str(self.count)]
        self.write()

    def _add_job(self) -> None:
        self.jobs[f"nlp/new{self.count}"] = {**JOB, "nodes": 1, "kind": self.random.choice(["Job", "JobSet"])}
        self.write()

    def _delete_job(self) -> None:
        if len(self.jobs) > 2:
            del self.jobs[self.random.choice(sorted(self.jobs))]
        self.write()

    def _small_file(self) -> None:
        self.any_job()["files"] = [{"source": "config/a.yaml", "mountPath": "/etc/a"}]
        self.write()

    def _move_job(self) -> None:
        self.any_job()["cluster"] = self.random.choice(["test", "eu"])
        self.write()

    def _change_cluster(self) -> None:
        self.clusters["eu"]["priorities"] = {"normal": 100, "high": 1000 + self.count}
        self.write()

    def _change_team(self) -> None:
        self.team["group"] = f"people-{self.count}"
        self.write()

    def files(self) -> list[Path]:
        """Return the generated files."""
        return sorted(path for path in (self.root / "generated").rglob("*") if path.is_file())

    def _tamper(self) -> None:
        path = self.random.choice(self.files())
        path.write_bytes(path.read_bytes().replace(b"a", b"b", 1))

    def _lose(self) -> None:
        self.random.choice(self.files()).unlink()

    def _nothing(self) -> None:
        pass


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_what_is_remembered_never_changes_what_is_written(tmp_path: Path, seed: int) -> None:
    """After every one of many random edits the tree is what a synth without memory would write."""
    root = tmp_path / "repo"
    editor = Editor(root, seed)
    synth(root)
    for _ in range(12):
        edit = editor.step()
        synth(root)
        assert stale(root) == [], edit


def test_an_unchanged_repository_renders_nothing(tmp_path: Path) -> None:
    """The second synth opens no job file and starts no Node: neither jobs nor clusters are looked at again."""
    root = tmp_path / "repo"
    Editor(root, 0)
    synth(root)
    outcome = synth(root)
    assert outcome.work is not None
    assert outcome.work.tree.known
    assert [path for path in outcome.work.tree.texts if "/ledger/" not in path] == []
    script = (
        "import sys; from pathlib import Path; from trainyard import __version__\n"
        "from trainyard.change.synth import session\n"
        "assert not session.run(Path('.'), __version__).refused\n"
        "sys.exit('cdk8s' in sys.modules)\n"
    )
    env = {**ENV, "PYTHONPATH": str(ROOT / "platform"), "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"]}
    subprocess.run([sys.executable, "-c", script], cwd=root, env=env, check=True)


def test_one_changed_job_renders_one_job(tmp_path: Path) -> None:
    """The others are known."""
    root = tmp_path / "repo"
    editor = Editor(root, 0)
    synth(root)
    editor.jobs["nlp/job1"]["args"] = ["x"]
    editor.write()
    outcome = synth(root)
    assert outcome.work is not None
    objects = [path for path in outcome.work.tree.texts if "/ledger/" not in path and "/index/" not in path]
    assert objects
    assert all(path.startswith("test/runs/nlp/job1-") for path in objects)


def test_a_job_that_changes_twice_is_known_afterwards(tmp_path: Path) -> None:
    """The files that a synth removes count for nothing that it renders."""
    root = tmp_path / "repo"
    editor = Editor(root, 0)
    for argument in ("x", "y", "z"):
        editor.jobs["nlp/job1"]["args"] = [argument]
        editor.write()
        synth(root)
    outcome = synth(root)
    assert outcome.work is not None
    assert [path for path in outcome.work.tree.texts if "/ledger/" not in path] == []


def test_warnings_are_said_again(tmp_path: Path) -> None:
    """What is remembered of a file or a cluster includes what was found on it."""
    root = tmp_path / "repo"
    cluster = {**CLUSTER, "operators": {**CLUSTER["operators"], "kueue": UNLISTED}}
    write_repository(root, clusters={"test": cluster}, repository={**REPOSITORY, "live": False})
    first, second = synth(root), synth(root)
    assert [finding.rule for finding in first.findings] == ["pairing/unlisted-release"]
    assert second.findings == first.findings


def test_warnings_are_said_again_of_a_cluster_that_was_not_written(tmp_path: Path) -> None:
    """A cluster that was looked at before, and is not on disk as it was rendered, keeps what was found on it."""
    root = tmp_path / "repo"
    write_repository(root, repository={**REPOSITORY, "live": False})
    synth(root)
    cluster = {**CLUSTER, "operators": {**CLUSTER["operators"], "kueue": UNLISTED}}
    cluster["priorities"] = {**CLUSTER["priorities"], "urgent": 5000}
    write_repository(root, clusters={"test": cluster}, repository={**REPOSITORY, "live": False})
    for checking in (True, True, True, False):
        outcome = session.run(root, __version__, checking=checking)
        outcome.save()
        assert "pairing/unlisted-release" in {finding.rule for finding in outcome.findings}


def test_a_job_that_another_one_takes_for_a_small_file_is_found(tmp_path: Path) -> None:
    """It is none any more, whatever is remembered of it."""
    root = tmp_path / "repo"
    jobs = {"nlp/one": {**JOB, "nodes": 1}, "nlp/two": {**JOB, "nodes": 1}}
    write_repository(root, jobs=jobs, repository={**REPOSITORY, "live": False})
    synth(root)
    jobs["nlp/two"]["files"] = [{"source": "one.yaml", "mountPath": "/etc/one"}]
    write_repository(root, jobs=jobs, repository={**REPOSITORY, "live": False})
    outcome = session.run(root, __version__)
    assert [(finding.rule, finding.location.file) for finding in outcome.findings] == [
        ("spec/job-as-file", "jobs/nlp/one.yaml")
    ]


@pytest.mark.slow
def test_a_folder_of_two_jobs_is_found_however_they_came_together(tmp_path: Path) -> None:
    """Two jobs that were right alone, and are remembered, save in one folder once a merge has both."""
    shared = {"shared": {"provisioner": "csi.weka.io", "access": "ReadWriteMany", "existing": True}}
    drivers = {"csi.weka.io": "of the site"}
    team = {**TEAM, "volumes": {"checkpoints": {"storage": "shared", "size": "1Ti"}}}
    saves = {"volume": "checkpoints", "size": "1Gi"}
    jobs = {"old": {**JOB, "checkpoint": saves}, "new": {**JOB, "checkpoint": {**saves, "folder": "old"}}}
    cluster = {**CLUSTER, "storage": shared, "drivers": drivers}
    for there in (("old",), ("new",), ("old", "new"), ("old", "new")):
        shutil.rmtree(tmp_path / "jobs", ignore_errors=True)
        named = {f"nlp/{name}": jobs[name] for name in there}
        write_repository(tmp_path, clusters={"test": cluster}, teams={"nlp": team}, jobs=named)
        outcome = session.run(tmp_path, __version__)
        outcome.save()
        told = [finding.message for finding in outcome.findings if finding.is_error]
        wanted = ["folder is 'old', where job 'old' saves too; use another folder, or remove it"]
        assert told == (wanted if len(there) == 2 else [])


def test_a_job_that_is_made_twice_is_found(tmp_path: Path) -> None:
    """A program that makes a job which another file has already is not hidden by what is remembered of that file."""
    root = tmp_path / "repo"
    write_repository(root, teams={"nlp": {**TEAM, "python": True}}, repository={**REPOSITORY, "live": False})
    synth(root)
    program = f"from trainyard.specs import Job\n\ndef jobs():\n    yield 'train', Job(**{JOB!r})\n"
    (root / "jobs/nlp/train.py").write_text(program)
    outcome = session.run(root, __version__)
    assert [finding.rule for finding in outcome.findings] == ["spec/duplicate-job"]


def test_a_damaged_memory_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Garbage in the cache costs time only."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "repo"
    Editor(root, 0)
    synth(root)
    for path in cache.folder().rglob("*"):
        if path.is_file():
            path.write_bytes(b"garbage")
    assert rendered(root) == 0
    assert stale(root) == []


@pytest.mark.slow
def test_two_synths_at_once_agree(tmp_path: Path) -> None:
    """Two processes that write the same tree leave it whole."""
    root = tmp_path / "repo"
    Editor(root, 0)
    command = [sys.executable, "-c", "from trainyard.faces.cli import main; main(['synth'])"]
    env = {**ENV, "PYTHONPATH": str(ROOT / "platform")}
    both = [subprocess.Popen(command, cwd=root, env=env, stderr=subprocess.PIPE) for _ in range(2)]
    assert [(item.communicate()[1], item.returncode) for item in both] == [(b"", 0), (b"", 0)]
    assert rendered(root) == 0
    assert stale(root) == []


def test_frozen_runs_are_known_without_opening_their_files(tmp_path: Path) -> None:
    """In a live repository a change of one job leaves the others to the base."""
    repo = Repo(tmp_path / "repo")
    jobs = {f"nlp/job{number}": {**JOB, "nodes": 1} for number in range(3)}
    write_repository(repo.root, jobs=jobs)
    synth(repo.root)
    repo.commit()
    repo.git("switch", "-qc", "work")
    synth(repo.root)
    jobs["nlp/job1"] = {**JOB, "nodes": 3}
    write_repository(repo.root, jobs=jobs)
    outcome = synth(repo.root)
    assert outcome.work is not None
    assert len(outcome.work.decision.frozen) == 2
    assert len(outcome.work.decision.fresh) == 1
    assert stale(repo.root) == []


@pytest.mark.slow
def test_many_processes_render_what_one_does(tmp_path: Path) -> None:
    """A large repository is rendered on all cores; the bytes are those of one process."""
    root = tmp_path / "repo"
    jobs = {f"nlp/job{number}": {**JOB, "nodes": 1, "args": [str(number)]} for number in range(320)}
    write_repository(root, jobs=jobs, repository={**REPOSITORY, "live": False})
    command = [sys.executable, "-c", "from trainyard.faces.cli import main; main(['synth'])"]
    subprocess.run(command, cwd=root, env={**ENV, "PYTHONPATH": str(ROOT / "platform")}, check=True)
    assert stale(root) == []
    assert rendered(root) == 0


def test_a_plugin_that_changes_makes_all_that_is_remembered_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code of a package beside Trainyard renders too, whatever its version says."""
    source = tmp_path / "ownplugin" / "__init__.py"
    source.parent.mkdir()
    source.write_text("A = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = EntryPoint("own", "ownplugin:A", "trainyard.kinds")
    monkeypatch.setattr(code, "added_entry_points", lambda group: [entry] if group == entry.group else [])
    before = code.code_digest("", World())
    assert code.code_digest("", World()) == before
    source.write_text("A = 22\n")
    assert code.code_digest("", World()) != before


def test_an_api_type_that_changes_makes_all_that_is_remembered_old(tmp_path: Path) -> None:
    """What judges is what the files of API types say, whatever the lock says of them."""

    def types() -> str:
        return start.world_of(Disk(tmp_path, None, "sha1")).digest((TYPES, str(tmp_path)))

    alone = types()
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas/lock.yaml").write_text("{}\n")
    kind = tmp_path / "schemas/kind_v1.json"
    kind.write_text('{"a": 1}\n')
    before = types()
    assert before != alone
    assert types() == before == World().digest((TYPES, str(tmp_path)))
    kind.write_text('{"a": 22}\n')
    assert types() != before
