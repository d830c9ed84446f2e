"""Whatever input changes, a plan, a check and a validation say with memory what they say without."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from command import call
from memory.site import MUTATIONS, Mutation, site
from repo import Repo
from trainyard.upstream.apiserver.catalog.served import from_index

pytestmark = [pytest.mark.node, pytest.mark.slow]

Said = tuple[int, str, str]

COMMANDS = ("plan", "check", "validate")


def said(repo: Repo, cache: Path, command: str, **env: str) -> Said:
    """Return what a command says, which remembers it in a folder."""
    python = ["--python"] if command != "check" else []  # who knows of no program says less of one
    done = call(repo.root, command, *python, "--format", "json", XDG_CACHE_HOME=str(cache), **env)
    return done.returncode, done.stdout, done.stderr


@dataclass(frozen=True)
class Merged:
    """A repository that was rendered and committed, and what all commands remember and say of it."""

    repo: Repo
    commit: str
    cache: Path
    answers: Mapping[str, Said]

    def restore(self) -> None:
        """Take back whatever was done to it."""
        changed = self.repo.git("diff", "--name-only").splitlines()
        self.repo.git("switch", "--quiet", "--force", "change")
        self.repo.git("reset", "--quiet", "--hard", self.commit)
        self.repo.git("clean", "--quiet", "--force", "-d")
        self.repo.git("branch", "--quiet", "-D", "work", ok=False)
        if any(path.startswith("schemas/") for path in changed):
            from_index.cache_clear()  # this process has read the changed ones


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Merged:
    """Return the repository."""
    place = tmp_path_factory.mktemp("commands")
    repo, cache = site(place / "repo"), place / "cache"
    done = call(repo.root, "synth", XDG_CACHE_HOME=str(cache))
    assert done.returncode == 0, done.stdout + done.stderr
    commit = repo.commit()
    repo.git("switch", "--quiet", "--create", "change")  # whatever is edited is compared with main
    return Merged(repo, commit, cache, {command: said(repo, cache, command) for command in COMMANDS})


@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS)
def test_memory_changes_no_answer(merged: Merged, tmp_path: Path, mutation: Mutation) -> None:
    """After each change of an input the answer is that of a fresh look, and another one than before."""
    repo, cache, before = merged.repo, tmp_path / "cache", merged.answers[mutation.command]
    shutil.copytree(merged.cache, cache)
    try:
        if mutation.before is not None:
            mutation.before(repo)
            before = said(repo, cache, mutation.command)
        mutation.change(repo)
        warm = said(repo, cache, mutation.command, **mutation.env)
        assert warm == said(repo, tmp_path / "fresh", mutation.command, **mutation.env)
    finally:
        merged.restore()
    assert (warm != before) == mutation.shows
