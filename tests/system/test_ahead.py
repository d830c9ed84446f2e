"""What another process lists or finds out is what this one would."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from trainyard.base.system import ahead, files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with files, folders, a link and a name that is no text."""
    for name in ("a/b/one", "a/two", "z"):
        path = tmp_path / "top" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "top/link").symlink_to("z")
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/top/\xff"))).write_text("")
    return tmp_path / "top"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the threads of whoever runs the tests not count."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)


@pytest.mark.usefixtures("alone")
def test_the_list_is_the_same(folder: Path) -> None:
    """Links, odd names and what the disk says of files arrive whole."""
    assert ahead.walk(folder)() == files.walk(folder)
    assert len(files.walk(folder)) == 5


def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    """As everywhere else."""
    assert ahead.walk(tmp_path / "none")() == []


@pytest.mark.usefixtures("alone")
def test_a_child_that_dies_is_not_believed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is then made here."""
    here, parent = files.walk, os.getpid()

    def walk(top: Path) -> list[files.Found]:
        if os.getpid() != parent:
            os._exit(3)
        return here(top)

    def waitpid(child: int, options: int) -> tuple[int, int]:
        ended.append(waiting(child, options)[1])
        return child, ended[0]

    waiting, ended = os.waitpid, list[int]()
    monkeypatch.setattr(files, "walk", walk)
    monkeypatch.setattr(os, "waitpid", waitpid)
    assert ahead.walk(folder)() == here(folder)
    assert os.waitstatus_to_exitcode(ended[0]) == 3


@pytest.mark.usefixtures("alone")
def test_what_is_begun_is_heard_by_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    """Only its result comes, once; what fails in the child fails here, where it can be told."""
    parent = os.getpid()

    def work() -> list[str]:
        os.write(1, b"said aloud")
        return ["a", str(os.getpid() == parent)]

    def fails() -> list[str]:
        raise ValueError(os.getpid() == parent)

    assert ahead.begin(work)() == ["a", "False"]
    assert capfd.readouterr().out == ""
    with pytest.raises(ValueError, match="True"):
        ahead.begin(fails)()


def test_nothing_is_forked_beside_threads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forked copy of a process with threads may stand still for ever."""
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("forked"))
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert len(ahead.walk(folder)()) == 5
    finally:
        done.set()
        thread.join()


def test_a_child_that_nobody_asks_ends_with_its_parent(tmp_path: Path) -> None:
    """A list larger than a pipe holds nobody up: what reads the parent's output sees its end."""
    for number in range(2000):
        (tmp_path / f"{number}-{'long' * 20}").touch()
    program = f"from pathlib import Path; from trainyard.base.system import ahead; ahead.walk(Path({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=30)
