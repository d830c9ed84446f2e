"""Interpreters that have torch already, for tests that start dozens of them."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from conftest import ROOT

OURS = Path(__file__).parent
NAMES = ("python", "python3", "torchrun")


@cache
def torch_python() -> Path:
    """Return a folder to put on PATH first, whose `python` and `torchrun` are there at once.

    It lies where pods see it: they have a /tmp of their own.
    """
    place = ROOT / ".cache"
    place.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="forked-", dir=place))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "real").write_text(sys.executable)
    client = (OURS / "python.py").read_text(encoding="utf-8")
    for name in NAMES:
        (folder / name).write_text(f"#!{sys.executable} -IS\n{client}", encoding="utf-8")
        (folder / name).chmod(0o755)
    server = subprocess.Popen([sys.executable, OURS / "server.py", folder / "socket"], stdin=subprocess.DEVNULL)
    atexit.register(server.kill)
    until = time.monotonic() + 120
    while not (folder / "socket").exists():
        if server.poll() is not None or time.monotonic() > until:
            raise RuntimeError("the server of interpreters did not start")
        time.sleep(0.05)
    return folder
