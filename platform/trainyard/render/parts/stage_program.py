"""Copy datasets to a node's own disk before training, so that the program reads each file from there.

Pods run this file alone, with Python 3.9 or later, before the training container starts (docs/staging.md).

A dataset appears under its name by one rename, when all its files are on the disk. Until then it is in a folder beside
it that training never mounts. Each finished file is in a journal with its size, its time at the source and a CRC-32 of
each part. Whoever starts again reads the journal, checks what is there against it, and copies only what is missing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

OWN = ".stage"
"""Folder of this program on the local disk: journals, and files that are being copied."""

CHUNK = 4 << 20
"""Bytes that are read at a time."""

PART = int(os.environ.get("STAGE_PART_BYTES", str(256 << 20)))
"""Bytes of a file that one thread copies; each part has a sum of its own."""

THREADS = int(os.environ.get("STAGE_THREADS", "8"))
LOCAL = Path(os.environ.get("STAGE_LOCAL", "/staged"))
PLAN = os.environ.get("STAGE_PLAN", "[]")
TELL = float(os.environ.get("STAGE_TELL_SECONDS", "30"))
ROUNDS = 3
"""Times that a dataset is listed and copied at most, where it changes meanwhile."""

BATCH = 1000
"""Files that threads are told of at a time."""

GI = 1 << 30


class Source(NamedTuple):
    """A file of a dataset as it is at the source."""

    size: int
    time: int
    """Of the last change, in nanoseconds."""
    mode: int


class StageError(Exception):
    """A reason to end with one line."""


class ChangeError(Exception):
    """A reason to look again."""


def say(text: str) -> None:
    """Print a line at once."""
    readable = text.encode("utf-8", "backslashreplace").decode()  # names of files need not be text
    print(f"stage: {readable}", flush=True)  # noqa: T201 - its log is how people see it


def bytes_text(count: int) -> str:
    """Return bytes for a person."""
    return f"{count / GI:.1f} GiB" if count >= GI else f"{count} bytes"


def sync(path: Path) -> None:
    """Wait until a folder's entries are on disk."""
    handle = os.open(str(path), os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def list_files(top: Path) -> tuple[dict[str, Source], list[str]]:
    """Return the files of a dataset by their path, and its folders; links within it are followed."""
    files: dict[str, Source] = {}
    folders: list[str] = []
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        folders.append(folder)
        with os.scandir(top / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_symlink():
                    check_link(top, folder, path)
                found = entry.stat()
                if stat.S_ISDIR(found.st_mode):
                    waiting.append(path)
                elif stat.S_ISREG(found.st_mode):
                    files[path] = Source(found.st_size, found.st_mtime_ns, stat.S_IMODE(found.st_mode))
                else:
                    raise StageError(f"{path} is neither a file nor a folder")
    return files, sorted(folders)


def check_link(top: Path, folder: str, path: str) -> None:
    """End at a link that leads out of its dataset, to nothing, or to a folder that it is in."""
    inside, target, here = (os.path.realpath(one) for one in (top, top / path, top / folder))
    if not target.startswith(inside + os.sep) or not Path(target).exists():
        raise StageError(f"{path} is a link that leads out of the dataset or to nothing")
    if f"{here}{os.sep}".startswith(f"{target}{os.sep}"):
        raise StageError(f"{path} is a link to a folder that it is in")


def parts_of(size: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of the parts of a file of that size; an empty file has one."""
    yield from ((begin, min(size, begin + PART)) for begin in range(0, max(1, size), PART))


class Dataset:
    """One dataset: where it comes from, and its files that are on the local disk."""

    def __init__(self, said: Mapping[str, Any], pool: ThreadPoolExecutor) -> None:
        self.name, self.source, self.room = str(said["name"]), Path(said["from"]), int(said["bytes"])
        self.pool, self.done, self.copied = pool, LOCAL / self.name, LOCAL / OWN / f"{self.name}.copied"
        self.book, self.lock = LOCAL / OWN / f"{self.name}.journal", threading.Lock()
        self.there = self.read_journal()
        self.bytes = self.total = 0
        self.told = time.monotonic()

    def read_journal(self) -> dict[str, tuple[Source, list[int]]]:
        """Return the finished files by path, with the sums of their parts; a last line that is torn does not count."""
        found = {}
        for line in self.book.read_text(errors="replace").splitlines() if self.book.exists() else ():
            try:
                path, size, when, mode, sums = json.loads(line)
            except (ValueError, TypeError, RecursionError):
                continue
            found[path] = (Source(size, when, mode), sums)
        return found

    def stage(self) -> None:
        """Bring the dataset to the local disk, whole, under its name."""
        why = ""
        for _ in range(ROUNDS):
            try:
                return self.bring()
            except (ChangeError, FileNotFoundError) as changed:
                why = str(changed)
                say(f"{self.name} changed while it was copied ({why}); looking again")
        raise StageError(f"{self.name} changes all the time ({why}); stage data that stays as it is")

    def bring(self) -> None:
        """Copy what is missing, and show the whole if it is still as it was listed."""
        began = time.monotonic()
        wanted, folders = list_files(self.source)
        total = sum(file.size for file in wanted.values())
        if not wanted:  # the kubelet makes a folder of a subPath that is misspelt
            raise StageError(f"{self.name} has no files; correct subPath, or the folder of the bucket")
        if total > self.room:
            raise StageError(
                f"{self.name} has {bytes_text(total)}, but stage.size is {bytes_text(self.room)}; raise it"
            )
        if self.done.exists():  # nobody may see it while it is compared and changed
            shutil.rmtree(self.copied, ignore_errors=True)
            self.done.rename(self.copied)
        self.clear(wanted, folders)
        kept = self.keep(wanted)
        missing = [path for path in sorted(wanted) if path not in kept]
        self.bytes, self.total = 0, sum(wanted[path].size for path in missing)
        self.check_room(self.total)
        for folder in folders:
            (self.copied / folder).mkdir(parents=True, exist_ok=True)
        self.copy_all({path: wanted[path] for path in missing})
        if list_files(self.source) != (wanted, folders):
            raise ChangeError("other files are listed now")
        self.show(folders)
        seconds = time.monotonic() - began
        sums = json.dumps(sorted((path, self.there[path]) for path in wanted)).encode()
        say(
            f"staged {self.name} files={len(wanted)} bytes={total} copied={len(missing)} "
            f"seconds={seconds:.1f} sum={zlib.crc32(sums):08x}"
        )

    def keep(self, wanted: Mapping[str, Source]) -> set[str]:
        """Return the files that are here already as they should be, each read and summed."""
        same = [path for path in wanted if path in self.there and self.there[path][0] == wanted[path]]
        right = list(self.pool.map(self.is_right, same))
        return {path for index, path in enumerate(same) if right[index]}

    def is_right(self, path: str) -> bool:
        """Say whether a copied file has its size and its sums."""
        size, sums = self.there[path][0].size, self.there[path][1]
        try:
            with (self.copied / path).open("rb") as file:
                if os.fstat(file.fileno()).st_size != size:
                    return False
                return [sum_of(file.fileno(), begin, end) for begin, end in parts_of(size)] == sums
        except OSError:
            return False

    def check_room(self, needed: int) -> None:
        """End before the disk is full."""
        found = os.statvfs(LOCAL)
        free = found.f_bavail * found.f_frsize
        if needed > free:
            raise StageError(f"{self.name} needs {bytes_text(needed)}, but the local disk has {bytes_text(free)} free")

    def clear(self, wanted: Mapping[str, Source], folders: list[str]) -> None:
        """Delete what is no part of the dataset any more."""
        known = set(folders)
        for root, inner, names in os.walk(self.copied):
            here = os.path.relpath(root, self.copied)
            prefix = "" if here == "." else f"{here}/"
            for name in [name for name in inner if prefix + name not in known]:
                shutil.rmtree(Path(root, name))
                inner.remove(name)
            for name in [name for name in names if prefix + name not in wanted]:
                Path(root, name).unlink()

    def copy_all(self, missing: Mapping[str, Source]) -> None:
        """Copy files, several small ones or several parts of a large one at a time."""
        small = [path for path, said in missing.items() if said.size <= PART]
        for begin in range(0, len(small), BATCH):
            for _ in self.pool.map(lambda path: self.copy(path, missing[path], map), small[begin : begin + BATCH]):
                pass
        for path, said in missing.items():
            if said.size > PART:
                self.copy(path, said, self.pool.map)

    def copy(self, path: str, said: Source, each: Callable[..., Iterable[int]]) -> None:
        """Copy a file in parts, and give it its name once all of it is on disk; `each` calls for each part."""
        target, part = self.copied / path, LOCAL / OWN / f"{threading.get_ident()}.part"
        with (self.source / path).open("rb") as file, part.open("wb") as new:
            new.truncate(said.size)
            sums = list(each(lambda piece: self.copy_part(file.fileno(), new.fileno(), piece), parts_of(said.size)))
            os.fsync(new.fileno())
            found = os.fstat(file.fileno())
        if (found.st_size, found.st_mtime_ns) != (said.size, said.time):
            raise ChangeError(path)
        part.chmod(said.mode | stat.S_IRUSR | stat.S_IWUSR)
        os.utime(part, ns=(said.time, said.time))
        part.replace(target)
        with self.lock:
            self.there[path] = (said, sums)
            with self.book.open("a") as journal:
                journal.write(json.dumps([path, *said, sums]) + "\n")

    def copy_part(self, source: int, target: int, part: tuple[int, int]) -> int:
        """Copy a part of a file, and return its sum; what the source lacks raises."""
        at, end = part
        value, buffer = 0, memoryview(bytearray(min(CHUNK, max(1, end - at))))
        while at < end:
            count = os.preadv(source, [buffer[: end - at]], at)
            if not count:
                raise ChangeError("a file is shorter than it was")
            value = zlib.crc32(buffer[:count], value)
            written = 0
            while written < count:
                written += os.pwrite(target, buffer[written:count], at + written)
            at += count
            self.tell(count)
        return value

    def tell(self, count: int) -> None:
        """Say now and then how far it is."""
        with self.lock:
            self.bytes += count
            if time.monotonic() - self.told >= TELL:
                self.told = time.monotonic()
                say(f"{self.name}: {bytes_text(self.bytes)} of {bytes_text(self.total)}")

    def show(self, folders: list[str]) -> None:
        """Give the folder its name, by which alone training mounts it."""
        for folder in folders:
            sync(self.copied / folder)
        self.copied.rename(self.done)
        sync(LOCAL)


def sum_of(handle: int, begin: int, end: int) -> int:
    """Return the sum of a part of a file."""
    value, buffer = 0, memoryview(bytearray(min(CHUNK, max(1, end - begin))))
    while begin < end:
        count = os.preadv(handle, [buffer[: end - begin]], begin)
        if not count:
            break
        value = zlib.crc32(buffer[:count], value)
        begin += count
    return value


def main() -> int:
    """Stage all datasets, one after the other."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))  # the first process of a container ignores it by default
    (LOCAL / OWN).mkdir(exist_ok=True)
    for torn in (LOCAL / OWN).glob("*.part"):
        torn.unlink()
    with ThreadPoolExecutor(THREADS) as pool:
        for said in json.loads(PLAN):
            Dataset(said, pool).stage()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (StageError, OSError) as failed:
        say(f"failed: {failed}")
        sys.exit(1)
