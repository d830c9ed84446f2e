"""The programs of tools/ within the test's own process: a start of Python takes longer than most of what they do."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from pathlib import Path
from unittest import mock

from command import Done
from conftest import ROOT


def tool(name: str, *arguments: str | Path) -> Done:
    """Run one program with arguments."""
    path = str(ROOT / "tools" / name)
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", [path, *map(str, arguments)]),
        mock.patch.object(sys, "path", [*sys.path]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as done:
            code = done.code if isinstance(done.code, int) else int(done.code is not None)
            if isinstance(done.code, str):
                err.write(done.code)
    return Done(code, out.getvalue(), err.getvalue())
