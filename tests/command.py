"""The command line within the test's own process: many calls share one start of Python and of Node."""

from __future__ import annotations

import contextlib
import gc
import io
import os
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from repo import ENV
from trainyard.faces.cli import main


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def call(root: Path, *arguments: str, **env: str) -> Done:
    """Run one command in a folder, with the environment of a person's shell: neither CI nor a base is set."""
    out, err = io.StringIO(), io.StringIO()
    before, code = Path.cwd(), 0
    with mock.patch.dict(os.environ, {**ENV, **env}, clear=True):
        os.chdir(root)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main(arguments)
        except SystemExit as done:
            code = int(done.code or 0)
        finally:
            os.chdir(before)
            gc.enable()
    return Done(code, out.getvalue(), err.getvalue())
