"""Whatever input changes, a plan, a check and a validation say with memory what they say without."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from command import call
from memory.site import MUTATIONS, Mutation, site
from repo import Repo

pytestmark = [pytest.mark.node, pytest.mark.slow]

Said = tuple[int, str, str]

COMMANDS = ("plan", "check", "validate")


def said(repo: Repo, cache: Path, command: str, **env: str) -> Said:
    """Return what a command says, which remembers it in a folder."""
    done = call(repo.root, command, "--format", "json", XDG_CACHE_HOME=str(cache), **env)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repo, Path]:
    """Return a repository that was rendered and committed, and what all commands remember of it."""
    place = tmp_path_factory.mktemp("commands")
    repo, cache = site(place / "repo"), place / "cache"
    done = call(repo.root, "synth", XDG_CACHE_HOME=str(cache))
    assert done.returncode == 0, done.stdout + done.stderr
    repo.commit()
    for command in COMMANDS:
        said(repo, cache, command)
    return repo, cache


@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS)
def test_memory_changes_no_answer(merged: tuple[Repo, Path], tmp_path: Path, mutation: Mutation) -> None:
    """After each change of an input the answer is that of a fresh look, and another one than before."""
    repo, cache = merged[0].copied(tmp_path / "repo"), tmp_path / "cache"
    shutil.copytree(merged[1], cache)
    mutation.before(repo)
    before = said(repo, cache, mutation.command)
    mutation.change(repo)
    warm = said(repo, cache, mutation.command, **mutation.env)
    assert warm == said(repo, tmp_path / "fresh", mutation.command, **mutation.env)
    assert warm != before
