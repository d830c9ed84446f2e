"""A reader that goes, as `head` does, changes no exit code, and nobody is told of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from make import JOB, write_repository

pytestmark = pytest.mark.slow

INTERRUPTED = 130
"""What a run ends with that somebody interrupts."""

ERRORS = {"an error is read": False, "an error is not read either": True}


def unread(root: Path, *arguments: str, stderr: bool = False, **env: str) -> tuple[int, bytes]:
    """Run a command whose output nobody reads, and return its exit code and what it says on standard error."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "trainyard", *arguments],
            cwd=root,
            stdout=write,
            stderr=write if stderr else subprocess.PIPE,
            env={**os.environ, **env},
            timeout=120,
            check=False,
        )
    finally:
        os.close(write)
    return done.returncode, done.stderr or b""


@pytest.mark.parametrize("stderr", ERRORS.values(), ids=ERRORS)
def test_what_was_found_is_the_exit_code(tmp_path: Path, *, stderr: bool) -> None:
    """Clean is 0, findings are 1 and a wrong call is 2, however much of it was read."""
    clean = write_repository(tmp_path / "clean", jobs={"nlp/train": JOB})
    wrong = write_repository(tmp_path / "wrong", jobs={"nlp/train": {**JOB, "nodes": 5}})
    assert unread(clean, "admit", stderr=stderr) == (0, b"")
    assert unread(clean, "admit", stderr=stderr, PYTHONUNBUFFERED="1") == (0, b"")
    code, _ = unread(wrong, "admit", stderr=stderr)
    assert code == 1
    code, said = unread(clean, "admit", "nlp/nothing", stderr=stderr)
    assert code == 2
    assert b"Traceback" not in said


def test_help_that_is_longer_than_a_pipe_holds_is_cut(tmp_path: Path) -> None:
    """A list of all rules is cut by its reader in the middle, and no error follows."""
    command = [sys.executable, "-m", "trainyard", "rule"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")


def test_a_run_that_nobody_reads_ends(tmp_path: Path) -> None:
    """Its pods would go on for nobody: it ends as if somebody had interrupted it."""
    (tmp_path / "loop.py").write_text("import time\nwhile True:\n    print('step', flush=True)\n    time.sleep(0.05)\n")
    job = {**JOB, "nodes": 1, "gpusPerNode": 1, "launcher": "python", "program": "loop.py"}
    root = write_repository(tmp_path / "repo", jobs={"nlp/train": job})
    code, said = unread(root, "run", "nlp/train", "--workdir", str(tmp_path))
    assert (code, said) == (INTERRUPTED, b"")
