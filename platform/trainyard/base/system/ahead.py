"""Begins in a process beside this one, on another core, what is asked for later: to list a large folder, to judge."""

from __future__ import annotations

import marshal
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from trainyard.base.system import files

T = TypeVar("T")


def walk(folder: Path) -> Callable[[], list[files.Found]]:
    """Begin to list the files below a folder, and return what waits for the list; it is that of `files.walk`."""
    if not folder.is_dir():
        return lambda: files.walk(folder)
    listed = begin(lambda: [(path, tuple(status), regular) for path, status, regular in files.walk(folder)])
    return lambda: [files.Found(path, files.Status(*status), regular) for path, status, regular in listed()]


def begin(work: Callable[[], T]) -> Callable[[], T]:
    """Begin to find out plain values, which `marshal` takes, and return what waits for them.

    What is done beside must leave nothing behind that this process needs, and nobody hears what it says. Where a
    process cannot be forked safely (threads run, not Linux, one core), and where it fails, the work is done when its
    result is asked for.
    """
    if sys.platform != "linux" or threading.active_count() > 1 or (os.cpu_count() or 1) < 2:
        return work
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        _send(work, sending)
    os.close(sending)
    return lambda: _receive(work, receiving, child)


def _send(work: Callable[[], Any], sending: int) -> NoReturn:
    """Work, send, and end at once: nothing of the parent's is flushed or closed twice.

    A parent that has ended without asking reads nothing, and the pipe, whose other end it alone had, is broken.
    """
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        found = work()
        with os.fdopen(sending, "wb") as stream:
            marshal.dump(found, stream)
        code = 0
    finally:
        os._exit(code)


def _receive(work: Callable[[], T], receiving: int, child: int) -> T:
    """Return the child's result; when the child failed, the work is done here again."""
    with os.fdopen(receiving, "rb") as stream:
        data = stream.read()
    ended = 1
    with suppress(ChildProcessError):
        ended = os.waitpid(child, 0)[1]
    if ended:
        return work()
    found: T = marshal.loads(data)  # noqa: S302 - from our own child alone
    return found
