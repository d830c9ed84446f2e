"""Files: read them, list them, and replace them so that a reader never meets half of one."""

from __future__ import annotations

import errno
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

NAME = attrgetter("name")

MARK, ENDING = ".trainyard-", ".tmp"
"""How temporary files begin and end; a killed process may leave one behind, under a name that nobody applies."""

TEMPORARY = re.compile(rf"{re.escape(MARK)}\d+-\d+{re.escape(ENDING)}")


class Status(NamedTuple):
    """What the disk says of a file, of `os.stat_result` that which is asked for here."""

    st_mode: int
    st_size: int
    st_mtime_ns: int
    st_ctime_ns: int
    st_ino: int


class Found(NamedTuple):
    """A file below a folder: its path there with forward slashes, what the disk says of it, whether it is plain."""

    path: str
    stat: Status
    regular: bool


def create(path: Path, content: str) -> None:
    """Write a new file as a whole; raises FileExistsError where something is there already, which stays as it is."""
    write(path, content, new=True)


def write(path: Path, content: str | bytes, *, sync: bool = False, like: Path | None = None, new: bool = False) -> None:
    """Replace a file as a whole: readers see the old content or the new, even if this process is killed.

    The new content is written beside the file and renamed over it; a symbolic link is replaced, not followed.
    With `sync` it has reached the disk before the rename. Folders are made as needed; text is UTF-8 with LF.
    Who may read it is as for any new file, or as for the file `like`. Nothing is replaced by what has to be `new`.
    """
    data = content.encode() if isinstance(content, str) else content
    beside = path.parent / f"{MARK}{os.getpid()}-{threading.get_ident()}{ENDING}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(beside, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(beside, flags, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            if like is not None:
                beside.chmod(stat.S_IMODE(like.stat().st_mode))
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        if new:
            place_new(beside, path)
        else:
            os.replace(beside, path)  # noqa: PTH105 - one call for both systems
    except BaseException as error:
        with suppress(FileNotFoundError):
            beside.unlink()
        if isinstance(error, OSError) and error.errno is not None:  # a full disk has no name of its own
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def place_new(beside: Path, path: Path) -> None:
    """Give a file its name, unless something has it: by a second name, which never replaces, where there are such."""
    try:
        path.hardlink_to(beside)
    except FileExistsError:
        raise
    except OSError as error:
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from error
        beside.rename(path)
    else:
        beside.unlink()


def read(path: Path) -> bytes | None:
    """Return a file's bytes, or None where no such file is there."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def read_regular(path: Path) -> bytes | None:
    """Return a plain file's bytes, links followed, or None for a pipe, a device or a folder, which is not waited for.

    Raises OSError where it cannot be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None


def read_plain(path: Path, *, most: int) -> bytes:
    """Return the first bytes of a plain file, at most so many; none of a link, a pipe, a folder or what is not there.

    A pipe is not waited for.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""


def walk(folder: Path, skip: Callable[[str], bool] = lambda _: False) -> list[Found]:
    """Return every file below a folder, sorted inside each folder; links are listed, never followed.

    A folder that does not exist has no files, nor has one below whose path `skip` takes.
    """
    found: list[Found] = []
    open_folders = [(_entries(str(folder)), "")]
    while open_folders:
        entries, prefix = open_folders[-1]
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if skip(prefix + entry.name):
                    continue
                open_folders.append((_entries(entry.path), f"{prefix}{entry.name}/"))
                break
            try:
                status = status_of(entry.stat(follow_symlinks=False))
            except FileNotFoundError:  # gone since the folder was read, as what somebody else is writing
                continue
            found.append(Found(prefix + entry.name, status, stat.S_ISREG(status.st_mode)))
        else:
            open_folders.pop()
    return found


def status_of(found: os.stat_result) -> Status:
    """Return what is asked for of a file's status."""
    return Status(found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            return iter(sorted(listing, key=NAME))
    except (FileNotFoundError, NotADirectoryError):
        return iter(())


def remove(path: Path, *, top: Path) -> None:
    """Remove a file and the folders that this leaves empty, up to but not including `top`."""
    with suppress(FileNotFoundError):
        path.unlink()
    for folder in path.parents:
        if folder == top:
            return
        try:
            folder.rmdir()
        except OSError:
            return


def is_temporary(path: str) -> bool:
    """Say whether a path is what a killed `write` left behind: its exact form, since what is temporary is removed."""
    return TEMPORARY.fullmatch(path.rpartition("/")[2]) is not None
