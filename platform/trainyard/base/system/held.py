"""Files and folders that are held while their maker lives, so that what a killed process left is told from the rest.

The kernel keeps the lock (flock): it goes with the last process that has the file open, and no number of a process has
to be believed, which another container or a later process may have too.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


def hold(handle: int, path: Path) -> bool:
    """Lock what was just made and opened, and say whether it still has its name; a sweep may have been faster.

    Where the system has no such locks nothing is held, and `take` takes nothing.
    """
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return is_at(handle, path)


def take(path: Path, *, folder: bool = False) -> int | None:
    """Open and lock what this user's process has left, and return its descriptor; None for what anybody holds.

    No link is followed, and nothing of another user's is taken.
    """
    if sys.platform == "win32":
        return None
    flags = (os.O_RDONLY | os.O_DIRECTORY if folder else os.O_RDWR) | NOFOLLOW
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_uid == os.getuid() and is_at(handle, path):
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def is_at(handle: int, path: Path) -> bool:
    """Say whether an open file is the one that a path names, itself and not by a link."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False
