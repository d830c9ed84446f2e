"""Whatever changes that something follows from, what is remembered says what a look without memory says."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from conftest import ROOT
from memory.mutations import CHANGES, fleet
from trainyard import __version__
from trainyard.base.memory import Memory, World, code
from trainyard.base.system import cache as system_cache
from trainyard.base.system import reads
from trainyard.change.synth import session
from trainyard.change.synth.facts import FileFact, load_facts
from trainyard.render.tree.disk import CACHE
from trainyard.specs import tracked

pytestmark = [pytest.mark.node, pytest.mark.slow]

Said = tuple[object, ...]

Merged = tuple[Path, Path, Said]
"""A folder, what is remembered of it, and the output of a synth that remembers nothing."""


@contextmanager
def cache(folder: Path) -> Iterator[None]:
    """Let what is remembered be in a folder."""
    with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(folder)}):
        yield


def said(root: Path) -> Said:
    """Return findings and the tree of a synth, which remembers them."""
    outcome = session.run(root, __version__, checking=True)
    outcome.save()
    tree = outcome.tree
    ids = None if tree is None else dict(sorted(tree.ids.items()))
    return sorted(map(repr, outcome.findings)), ids


def cold(root: Path) -> Said:
    """Return the output of a synth that remembers nothing."""
    with tempfile.TemporaryDirectory() as folder, cache(Path(folder)):
        return said(root)


def written(root: Path) -> None:
    """Write `generated/`, so that what is remembered of it is on disk."""
    outcome = session.run(root, __version__)
    assert outcome.work is not None, outcome.findings
    list(outcome.work.write())
    outcome.save()


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Merged:
    """Return a repository that was rendered, what is remembered of it, and what a fresh look says."""
    place = tmp_path_factory.mktemp("follows")
    with cache(place / "cache"):
        written(fleet(place / "repo"))
        said(place / "repo")
    return place / "repo", place / "cache", cold(place / "repo")


def differs(merged: Merged, tmp_path: Path, change: str) -> list[str]:
    """Return at which step a synth with memory says something else: after a change, or after it is taken back."""
    root = merged[0]
    shutil.copytree(merged[1], tmp_path / "cache")
    shutil.copytree(root, tmp_path / "before")
    found = []
    try:
        CHANGES[change](root)
        with cache(tmp_path / "cache"):
            warm = said(root)
        if warm != cold(root):
            found.append("changed")
        for part in ("jobs", "platform", "policies"):
            shutil.rmtree(root / part)
            shutil.copytree(tmp_path / "before" / part, root / part)
        with cache(tmp_path / "cache"):
            warm = said(root)
        if warm != merged[2]:
            found.append("taken back")
    finally:
        shutil.rmtree(root)
        shutil.copytree(tmp_path / "before", root)
    return found


@pytest.mark.parametrize("change", CHANGES)
def test_memory_changes_no_answer(merged: Merged, tmp_path: Path, change: str) -> None:
    """After each change of one file, and after it is taken back, findings and bytes are those of a fresh look."""
    assert differs(merged, tmp_path, change) == []


FORGOTTEN: dict[str, tuple[object, str, str]] = {
    "files of clusters and teams": (tracked.Folder, "note", "a team's group"),
    "files of jobs, and small ones": (reads, "note_file", "a small file"),
    "policies": (reads, "ask", "a policy in Python"),
}
"""By what is not written down: where that is done, and a change that shows it."""


@pytest.mark.parametrize(("where", "name", "change"), FORGOTTEN.values(), ids=FORGOTTEN)
def test_a_read_that_nobody_writes_down_is_found(tmp_path: Path, where: object, name: str, change: str) -> None:
    """Without one of the functions that write down what is read, a change gives another answer with memory."""
    root = fleet(tmp_path / "repo")
    with mock.patch.object(where, name), cache(tmp_path / "cache"):
        written(root)
        said(root)
        CHANGES[change](root)
        warm = said(root)
    assert warm != cold(root)


OURS = {
    "code": "trainyard/change/synth/runs.py",
    "release facts": "trainyard/specs/releases/kueue.yaml",
    "chart facts": "schemas/charts/jobset/0.12.0.yaml",
    "an API type": "schemas/jobset/0.12.0/jobset.x-k8s.io/jobset_v1alpha2.json",
}
"""A file of each sort that comes with Trainyard."""


def test_other_code_believes_nothing(merged: Merged, tmp_path: Path) -> None:
    """What was found out with other code, or other facts that come with it, is found out again."""
    for path in OURS.values():
        (tmp_path / path).parent.mkdir(parents=True)
        shutil.copy2(ROOT / ("platform" if path.startswith("trainyard") else "") / path, tmp_path / path)
    ours = mock.patch.multiple(code, PACKAGE=tmp_path / "trainyard", own_folder=lambda name: tmp_path / name)
    with cache(tmp_path / "cache"), ours:
        said(merged[0])
        found = [len(believed(merged[0]))]
        for path in OURS.values():
            text = (tmp_path / path).read_text()
            (tmp_path / path).write_text(f"{text}\n")
            found.append(len(believed(merged[0])))
            (tmp_path / path).unlink()
            shutil.copy2(ROOT / ("platform" if path.startswith("trainyard") else "") / path, tmp_path / path)
    assert found == [5, 0, 0, 0, 0]


def believed(root: Path) -> Mapping[str, FileFact]:
    """Return what is remembered of a team's jobs and holds."""
    store = system_cache.private(CACHE, outside=root)
    return load_facts(Memory(store, World()), root, ["jobs/nlp/plain.yaml"]).facts.jobs
