"""Long work says how far it has come, on a terminal alone, and leaves nothing of it behind."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

import pytest

from make import JOB, REPOSITORY, write_repository
from repo import ENV, Repo
from trainyard.base.system import progress
from trainyard.faces.cli._progress import ERASE, Line

PROGRAM = """\
import sys
from trainyard.faces.cli import _progress, main
_progress.PATIENCE_SECONDS = _progress.OFTEN_SECONDS = 0
main(sys.argv[1:])
"""
"""The command line, which waits with nothing that it draws."""

JOBS = 4


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Return a repository of several jobs that no cluster follows, of which one is wrong."""
    jobs = {f"nlp/job-{number}": {**JOB, "nodes": 1} for number in range(JOBS - 1)}
    jobs["nlp/wrong"] = {**JOB, "launcher": "torchrn"}
    root = write_repository(
        tmp_path_factory.mktemp("fleet") / "repository", jobs=jobs, repository={**REPOSITORY, "live": False}
    )
    Repo(root).commit()
    return root


def watched(root: Path, *arguments: str, columns: int = 80, **env: str) -> tuple[str, str]:
    """Return the output of a command: its standard output in a pipe, its standard error on a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    with tempfile.TemporaryDirectory() as cache:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env={**ENV, "TERM": "xterm", "XDG_CACHE_HOME": cache, **env},
        )
        os.close(theirs)
        shown = b""
        while data := read(ours):
            shown += data
        os.close(ours)
        out, _ = process.communicate()
    return out.decode(), shown.decode()


def read(terminal: int) -> bytes:
    """Return the bytes that wait to be read; none once the last writer has ended, which Linux calls an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def lines(shown: str) -> list[str]:
    """Return the lines that were drawn one over the other, and what is left at the end."""
    return shown.split(ERASE)[1:]


@pytest.mark.parametrize("command", ["check", "validate", "plan", "synth"])
def test_a_terminal_is_told(repository, command):
    """The line names the jobs that are done; it is erased, and what is found stands where it stands without it."""
    out, shown = watched(repository, command, "--format", "json")
    drawn = lines(shown)
    assert {f"checking: {done} of {JOBS} jobs" for done in range(JOBS)} <= {*drawn}
    plain, still = watched(repository, command, "--format", "json", TERM="dumb")
    assert (out, drawn[-1]) == (plain, still)
    assert "torchrn" in out
    assert not re.search(r"[\x1b\r]", out)


QUIET = {
    "with -q": (["-q"], {}),
    "in continuous integration": ([], {"CI": "true"}),
    "on a terminal that can erase nothing": ([], {"TERM": "dumb"}),
    "in a window that has no room": ([], {"columns": 1}),
}


@pytest.mark.parametrize(("words", "settings"), QUIET.values(), ids=QUIET)
def test_nobody_is_told(repository, words, settings):
    """Where a line would be in the way there is none."""
    _, shown = watched(repository, "validate", *words, **settings)
    assert "checking" not in shown
    assert "reading" not in shown


def test_a_pipe_is_told_nothing(repository):
    """What is written to a file or a pipe has no line that was erased."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "validate"],
        cwd=repository,
        capture_output=True,
        text=True,
        env={**ENV, "TERM": "xterm"},
        check=False,
    )
    assert "torchrn" in done.stdout + done.stderr
    assert "checking: " not in done.stdout + done.stderr


@pytest.mark.parametrize("columns", [2, 24])
def test_a_narrow_window_never_wraps(repository, columns):
    """The line ends before the last column, so that one erasure takes all of it away."""
    _, shown = watched(repository, "validate", columns=columns, NO_COLOR="1")
    *drawn, _ = lines(shown)
    assert max(map(len, drawn)) <= columns - 1
    assert "checking: 0 of 4 jobs"[: columns - 1] in drawn


class Gone:
    """A terminal that somebody has closed."""

    def fileno(self) -> int:
        """Return no terminal."""
        return -1

    def write(self, _: str) -> None:
        """Fail as Linux does."""
        raise OSError(5, "Input/output error")


def test_a_terminal_that_is_gone_stops_nothing():
    """The work goes on when its window is closed."""
    line = Line(Gone())  # type: ignore[arg-type]  # of a stream it takes these
    line.due = 0
    with progress.shown_by(line.show):
        assert list(progress.each([1, 2], "checking", "jobs")) == [1, 2]
    line.erase()


def test_a_process_that_is_split_off_draws_nothing(tmp_path):
    """Several processes that share a terminal do not draw over each other."""
    with (tmp_path / "terminal").open("w+") as stream:
        line = Line(stream)
        line.due, line.process = 0, line.process + 1
        line.show("checking", 1, 2, "jobs")
        line.erase()
        assert not stream.tell()
