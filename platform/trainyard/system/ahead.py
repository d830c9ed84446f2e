"""Lists a large folder in a process beside this one: on another core its many system calls cost no time here."""

from __future__ import annotations

import marshal
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from trainyard.system import files


def walk(folder: Path) -> Callable[[], list[files.Found]]:
    """Begin to list the files below a folder, and return what waits for the list; it is that of `files.walk`.

    Where a process cannot be forked safely (threads run, not Linux, one core) the list is made when it is asked for.
    """
    if sys.platform != "linux" or threading.active_count() > 1 or (os.cpu_count() or 1) < 2 or not folder.is_dir():
        return lambda: files.walk(folder)
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        _send(folder, sending)
    os.close(sending)
    return lambda: _receive(folder, receiving, child)


def _send(folder: Path, sending: int) -> None:
    """List, send, and end at once: nothing of the parent's is flushed or closed twice.

    A parent that has ended without asking reads nothing, and the pipe, whose other end it alone had, is broken.
    """
    code = 1
    try:
        found = [(path, tuple(status), regular) for path, status, regular in files.walk(folder)]
        with os.fdopen(sending, "wb") as stream:
            marshal.dump(found, stream)
        code = 0
    finally:
        os._exit(code)


def _receive(folder: Path, receiving: int, child: int) -> list[files.Found]:
    """Return what the child sent; of a child that failed nothing is believed, and the list is made here."""
    with os.fdopen(receiving, "rb") as stream:
        data = stream.read()
    ended = 1
    with suppress(ChildProcessError):
        ended = os.waitpid(child, 0)[1]
    if ended:
        return files.walk(folder)
    found = marshal.loads(data)  # noqa: S302 - from our own child alone
    return [files.Found(path, files.Status(*status), regular) for path, status, regular in found]
