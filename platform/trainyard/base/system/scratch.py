"""Temporary folders of commands: each goes with its command, or, where that was killed, when the next one ends."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trainyard.base.system import held

SORTS = ("accepted", "base", "draft", "init", "keys", "kubeconform", "node", "run")

NAME = re.compile(rf"trainyard-(?:{'|'.join(SORTS)})-[a-z0-9_]{{8}}")
"""How such folders are called: by `tempfile.mkdtemp`, behind their sort."""

_held: dict[Path, int] = {}
"""The descriptor of each folder of this process, open as long as it is needed."""


def make(sort: str) -> Path:
    """Make a folder that nobody else may enter, and hold it until `remove`, or until this process ends."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=f"trainyard-{sort}-"))
        try:
            handle = os.open(path, os.O_RDONLY) if os.name == "posix" else -1
        except FileNotFoundError:  # another command ended meanwhile, and took it for what a killed one left
            continue
        if handle < 0 or held.hold(handle, path):
            _held[path] = handle
            return path
        os.close(handle)


def remove(path: Path) -> None:
    """Remove a folder that this process made, with all that is in it."""
    shutil.rmtree(path, ignore_errors=True)
    handle = _held.pop(path, -1)
    if handle >= 0:
        os.close(handle)


@contextmanager
def folder(sort: str) -> Iterator[Path]:
    """Give a folder that is gone afterwards."""
    path = make(sort)
    try:
        yield path
    finally:
        remove(path)


def lasting_folder(sort: str) -> Path:
    """Return a new folder that goes when this process ends; processes that it splits off leave it."""
    path, owner = make(sort), os.getpid()
    atexit.register(lambda: remove(path) if os.getpid() == owner else None)
    return path


def sweep() -> None:
    """Remove the folders of this user that nobody holds: their commands were killed."""
    try:
        with os.scandir(tempfile.gettempdir()) as entries:
            found = [Path(entry.path) for entry in entries if NAME.fullmatch(entry.name)]
    except OSError:
        return
    for path in found:
        handle = held.take(path, folder=True) if path not in _held else None
        if handle is not None:
            with suppress(OSError):
                if stat.S_IMODE(os.fstat(handle).st_mode) == stat.S_IRWXU:
                    shutil.rmtree(path, ignore_errors=True)
            os.close(handle)
