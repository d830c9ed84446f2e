"""Whatever people do to a fleet, one thing after the other, commands that remember say what those say that forget."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from command import call
from conftest import ROOT
from repo import Repo

sys.path.append(str(ROOT / "tools"))

import fleet  # a tool, beside the package

pytestmark = [pytest.mark.node, pytest.mark.slow]

JOBS, CLUSTERS, STEPS = 10, 2, 5

Edit = Callable[[Repo, Random, Path], None]


def jobs(repo: Repo) -> list[Path]:
    """Return the files of jobs."""
    return sorted((repo.root / "jobs").rglob("*.yaml"))


def substituted(pattern: str, text: str) -> Edit:
    """Return an edit of the first match in a job that has one."""

    def edit(repo: Repo, random: Random, _: Path) -> None:
        there = [path for path in jobs(repo) if re.search(pattern, path.read_text())]
        if there:
            path = random.choice(there)
            path.write_text(re.sub(pattern, text, path.read_text(), count=1))

    return edit


def hours(repo: Repo, random: Random, _: Path) -> None:
    """Write other hours of the same length into a job, which then has the size and the time that it had."""
    path = random.choice(jobs(repo))
    before = path.stat()
    path.write_text(re.sub(r"maxHours: \d+", f"maxHours: {random.randrange(10, 99)}", path.read_text()))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def remove(repo: Repo, random: Random, _: Path) -> None:
    """Remove a job."""
    random.choice(jobs(repo)).unlink()


def copy(repo: Repo, random: Random, _: Path) -> None:
    """Add a job like another one."""
    path = random.choice(jobs(repo))
    path.with_name(f"copy-{random.randrange(1000)}.yaml").write_text(path.read_text())


def tree(repo: Repo, random: Random, _: Path) -> None:
    """Edit an object by hand."""
    path = random.choice(sorted((repo.root / "generated").glob("*/runs/*/*/*.yaml")))
    path.write_text(path.read_text().replace("metadata:", "metadata: # by hand", 1))


def quota(repo: Repo, random: Random, _: Path) -> None:
    """Change how many nodes a cluster's pool has."""
    path = random.choice(sorted((repo.root / "platform/clusters").glob("*.yaml")))
    path.write_text(path.read_text().replace("nodes: 16", f"nodes: {random.choice((12, 14, 18))}", 1))


def undo(repo: Repo, *_: object) -> None:
    """Take everything back."""
    repo.git("reset", "--quiet", "--hard")
    repo.git("clean", "--quiet", "--force", "-d")


def synth(repo: Repo, _: Random, cache: Path) -> None:
    """Render."""
    call(repo.root, "synth", XDG_CACHE_HOME=str(cache))


def commit(repo: Repo, *_: object) -> None:
    """Commit everything."""
    repo.commit()


EDITS: tuple[Edit, ...] = (
    hours,
    substituted("launcher: torchrun", "launcher: torchrn"),
    substituted("launcher: torchrn", "launcher: torchrun"),
    substituted(r"\Z", "waive: {tor-expansion: it is meant}\n"),
    substituted(r"nodes: \d", "nodes: 3"),
    substituted("maxHours: ", "retired: true\nmaxHours: "),
    remove,
    copy,
    tree,
    quota,
    undo,
    synth,
    synth,
    commit,
)


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repo, Path]:
    """Return a fleet that was rendered and merged, and what the synth remembers."""
    place = tmp_path_factory.mktemp("fleet")
    root, cache = place / "repo", place / "cache"
    fleet.write_fleet(root, jobs=JOBS, clusters=CLUSTERS)
    repo = Repo(root)
    repo.put(".gitignore", ".tools\n")
    (root / ".tools").symlink_to(ROOT / ".tools")
    repo.commit()
    done = call(root, "synth", XDG_CACHE_HOME=str(cache))
    assert done.returncode == 0, done.stdout + done.stderr
    repo.commit()
    repo.git("switch", "--quiet", "--create", "work")
    return repo, cache


@pytest.mark.parametrize("seed", [1, 2])
def test_memory_changes_no_answer_about_a_fleet(merged, tmp_path, seed):
    """After every step each command says, with all that was remembered on the way, what a fresh look says."""
    repo, cache = merged
    repo.git("switch", "--quiet", "--force-create", f"work-{seed}", "work")
    random, done = Random(seed), []
    for step in range(STEPS):
        edit = random.choice(EDITS)
        edit(repo, random, cache)
        done.append(getattr(edit, "__name__", ""))
        asked = jobs(repo)[0].relative_to(repo.root).as_posix()
        words = random.choice((("check",), ("check", asked), ("plan",)))
        for command in (words, ("validate",)):
            answers = [
                call(repo.root, *command, "--format", "json", XDG_CACHE_HOME=str(memory))
                for memory in (cache, tmp_path / f"fresh-{step}")
            ]
            assert answers[0] == answers[1], (done, command)
    undo(repo)
