"""Files: read them, list them, and replace them so that a reader never meets half of one."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, NamedTuple

from trainyard.base.errors import TrainyardError
from trainyard.base.system import held, reads

NAME = attrgetter("name")

STDIN, PIPED = "-", "<stdin>"
"""How standard input is named on a command line, and in a report."""

MARK, ENDING = ".trainyard-", ".tmp"
"""How temporary files begin and end; a killed process may leave one behind, under a name that nobody applies."""

TEMPORARY = re.compile(rf"{re.escape(MARK)}\d+-\d+{re.escape(ENDING)}")


MOST_FILES, MOST_DEPTH, MOST_BYTES = 1_000_000, 200, 2**30
"""Files below a folder, folders in each other, and bytes of a file that are read: ten times what repositories have."""

READ = os.O_RDONLY
for _flag in ("O_BINARY", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC"):
    READ |= getattr(os, _flag, 0)
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
NO_FILE = frozenset({errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EOPNOTSUPP})
"""How opening fails for links, sockets and devices without a driver (BSD says EMLINK for a link)."""


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
    handle, beside = open_beside(path)
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


def open_beside(path: Path) -> tuple[int, Path]:
    """Make a new file beside another one, and return its descriptor and its path; it is held while it is open."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | NOFOLLOW
    while True:
        beside = path.parent / f"{MARK}{os.getpid()}-{secrets.randbits(48)}{ENDING}"
        try:
            handle = os.open(beside, flags, 0o666)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(beside, flags, 0o666)
        if held.hold(handle, beside):
            return handle, beside
        os.close(handle)


def sweep(path: Path, *, top: Path) -> bool:
    """Remove a temporary file that a killed process left, and say whether it was one: what is being written stays."""
    handle = held.take(path)
    if handle is None:
        return False
    try:
        remove(path, top=top)
    finally:
        os.close(handle)
    return True


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
    """Return a plain file's bytes, or None where none is there: of a link, a pipe, a device or a folder neither.

    Raises OSError where it cannot be read, or has more than `MOST_BYTES`.
    """
    data = None
    try:
        data = _read(path, NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        pass
    except OSError as error:
        if error.errno not in NO_FILE:
            raise
    reads.note_file(path, data)
    return data


def read_regular(path: Path) -> bytes | None:
    """Return a plain file's bytes, links followed, or None for a pipe, a device or a folder, which is not waited for.

    For what somebody names, and for what is installed. Raises OSError where it cannot be read, or has too many bytes.
    """
    data = _read(path, 0)
    reads.note_file(path, data)
    return data


def piped_bytes(*, most: int) -> bytes:
    """Return the bytes that are piped in, at most one more than `most`.

    Raises TrainyardError where standard input is closed.
    """
    return piped().read(most + 1)


def piped() -> BinaryIO:
    """Return standard input; raises TrainyardError where it is closed."""
    if sys.stdin is None:
        raise TrainyardError("standard input is closed; pipe a file into this command, or name one")
    return sys.stdin.buffer


def require_once(names: Iterable[str]) -> None:
    """Raise TrainyardError where standard input is named twice: the second reader would get nothing."""
    if list(names).count(STDIN) > 1:
        raise TrainyardError("- is standard input, which can be read only once; name it once")


def require_file(name: str, option: str) -> None:
    """Raise TrainyardError where an option names standard input, and has to name a file that stays."""
    if name == STDIN:
        raise TrainyardError(f"{option} cannot use standard input (-); name a file")


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """Hold a file that somebody names open for reading, or standard input."""
    if name == STDIN:
        yield piped()
    else:
        with Path(name).open("rb") as stream:
            yield stream


def called(name: str) -> str:
    """Return the name that a report has for a file, or for standard input."""
    return PIPED if name == STDIN else name


def read_installed(path: Path) -> bytes | None:
    """Return the bytes of a plain file that is installed, links followed, or None where none is there."""
    try:
        return read_regular(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        reads.note_file(path, None)
        return None


def read_plain(path: Path, *, most: int) -> bytes:
    """Return the first bytes of a plain file, at most so many, or none of a link, a pipe, a folder or nothing."""
    try:
        data = _read(path, NOFOLLOW, most)
    except OSError:
        data = None
    if data is not None and len(data) >= most:
        reads.note(reads.FILE, reads.absolute(path), reads.UNSTEADY)  # nobody knows what follows
    else:
        reads.note_file(path, data)
    return data or b""


def _read(path: Path, nofollow: int, most: int | None = None) -> bytes | None:
    """Read a plain file, and wait for no other; without `most` all of it is read, or nothing."""
    with os.fdopen(os.open(path, READ | nofollow), "rb", buffering=0 if most is None else -1) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            return None
        if most is not None:
            return file.read(most)
        if found.st_size > MOST_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return file.read()


def is_linked(top: Path, path: str) -> bool:
    """Say whether a path below a folder leads through a link, or is one."""
    while path:
        if (top / path).is_symlink():
            return True
        path = path.rpartition("/")[0]
    return False


def walk(folder: Path, skip: Callable[[str], bool] = lambda _: False) -> list[Found]:
    """Return every file below a folder, sorted inside each folder; links are listed, never followed.

    A folder that does not exist has no files, nor has one below whose path `skip` takes. Raises TrainyardError where
    there are more files, or folders in each other, than anybody means.
    """
    found: list[Found] = []
    open_folders = [(_entries(str(folder)), "")]
    while open_folders:
        if len(found) > MOST_FILES or len(open_folders) > MOST_DEPTH:
            what = f"{MOST_FILES} files" if len(found) > MOST_FILES else f"{MOST_DEPTH} folders in each other"
            raise TrainyardError(f"folder {str(folder)!r} has more than {what}; name a smaller one")
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


def stamps(folder: Path, endings: tuple[str, ...]) -> Iterator[str]:
    """Yield path, size and time of each installed file with one of these endings; a list of all would take longer."""
    left = [str(folder)]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(endings):
                    found = entry.stat()
                    yield f"{entry.path} {found.st_size} {found.st_mtime_ns}"
                elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)


def status_of(found: os.stat_result) -> Status:
    """Return the fields of a file's status that this program uses."""
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
