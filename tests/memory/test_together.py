"""Whatever becomes of the memory, answers stay right: commands beside each other, a full disk, damage, no folder."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from make import JOB, write_repository
from repo import ENV, Repo

pytestmark = pytest.mark.slow

COMMAND = (sys.executable, "-m", "trainyard", "validate", "--format", "json")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with a job that is right and one that is wrong."""
    jobs = {"nlp/right": {**JOB, "nodes": 1}, "nlp/wrong": {**JOB, "launcher": "torchrn"}}
    root = write_repository(tmp_path_factory.mktemp("together") / "repository", jobs=jobs)
    Repo(root).commit()
    return root


@pytest.fixture(scope="module")
def remembered(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Path]:
    """Return the answer of a command, and the folder of its memory."""
    cache = tmp_path_factory.mktemp("cache")
    said = start(repository, cache).communicate()[0]
    assert b"torchrn" in said
    assert entries(cache)
    return said, cache


def start(root: Path, cache: Path, before: Callable[[], None] | None = None) -> subprocess.Popen[bytes]:
    """Start a command."""
    variables = {**ENV, "XDG_CACHE_HOME": str(cache)}
    return subprocess.Popen(COMMAND, cwd=root, stdout=subprocess.PIPE, env=variables, preexec_fn=before)


def entries(cache: Path) -> list[Path]:
    """Return the files of a memory."""
    return [path for path in cache.rglob("*") if path.is_file()]


def test_commands_beside_each_other_say_the_same(repository, remembered, tmp_path):
    """A hook and a terminal that fill one memory at once are both answered, and leave nothing half written."""
    begun = [start(repository, tmp_path) for _ in range(3)]
    answers = {process.communicate()[0] for process in begun}
    assert answers == {remembered[0]}
    assert start(repository, tmp_path).communicate()[0] == remembered[0]
    assert not [path for path in entries(tmp_path) if path.name.endswith(".tmp")]


def no_room() -> None:
    """Let no file grow, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_a_full_disk_costs_time_alone(repository, remembered, tmp_path):
    """What cannot be remembered is said all the same."""
    assert start(repository, tmp_path, no_room).communicate()[0] == remembered[0]
    assert not any(path.stat().st_size for path in entries(tmp_path))


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut in half": lambda data: data[: len(data) // 2],
    "emptied": lambda _: b"",
    "of another entry": lambda data: data[::-1],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_costs_time_alone(repository, remembered, tmp_path, damage):
    """An entry that is not what was written is found out again."""
    cache = shutil.copytree(remembered[1], tmp_path / "cache")
    for path in entries(cache):
        path.write_bytes(damage(path.read_bytes()))
    assert start(repository, cache).communicate()[0] == remembered[0]


def test_no_folder_costs_time_alone(repository, remembered, tmp_path):
    """Where the memory would be is a file."""
    (tmp_path / "file").write_text("")
    assert start(repository, tmp_path / "file").communicate()[0] == remembered[0]
