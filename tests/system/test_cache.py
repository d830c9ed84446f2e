from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from trainyard.base.system import cache
from trainyard.base.system.cache import Cache
from trainyard.base.system.git import blob_id
from trainyard.render.tree import disk
from trainyard.render.tree.disk import COARSE_NS, SETTLED_NS, Disk


def test_an_entry_is_read_back(tmp_path: Path) -> None:
    """What was put is got, by another object too; what was not is a miss."""
    Cache(tmp_path).put("a" * 64, b"content")
    assert Cache(tmp_path).get("a" * 64) == b"content"
    assert Cache(tmp_path).get("b" * 64) is None


def test_keys_tell_contents_and_their_borders_apart() -> None:
    """Two lists of parts that join to one text have two keys."""
    assert cache.key("ab", "c") != cache.key("a", "bc")
    assert cache.key("ab") == cache.key(b"ab")
    assert cache.key("a\udcff")


DAMAGE = {
    "cut short": lambda data: data[:-1],
    "emptied": lambda data: b"",
    "one bit": lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
    "only the digest": lambda data: data[:32],
    "something else": lambda data: b"x" * 100,
}


def entries(folder: Path) -> list[Path]:
    """Return the files of a cache that are entries."""
    return [path for path in folder.rglob("*") if cache.ENTRY.fullmatch(path.relative_to(folder).as_posix())]


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_entry_is_a_miss(tmp_path: Path, damage) -> None:
    """A torn write or a bad disk costs time, never a wrong answer."""
    store = Cache(tmp_path)
    store.put("a" * 64, b"content of an entry")
    (path,) = entries(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    assert store.get("a" * 64) is None
    store.put("a" * 64, b"again")
    assert store.get("a" * 64) == b"again"


def test_the_cache_is_bounded(tmp_path: Path) -> None:
    """Entries that were used longest ago go first."""
    store = Cache(tmp_path, limit_bytes=10_000)
    names = [cache.key(str(number)) for number in range(10)]
    for number, name in enumerate(names):
        store.put(name, bytes(1500))
        os.utime(tmp_path / name[:2] / name[2:], (number, number))
    assert store.get(names[0]) is not None
    (tmp_path / cache.STAMP).unlink()
    Cache(tmp_path, limit_bytes=10_000).put(cache.key("new"), b"")
    kept = [name for name in names if store.get(name) is not None]
    assert names[0] in kept
    assert names[1] not in kept
    assert names[9] in kept
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) <= 10_000


def test_a_folder_that_cannot_be_written_makes_every_entry_a_miss(tmp_path: Path) -> None:
    """A file in the place of the folder, as a read-only disk, is no error."""
    (tmp_path / "file").write_text("")
    store = Cache(tmp_path / "file" / "cache")
    store.put("a" * 64, b"content")
    assert store.get("a" * 64) is None


def test_many_writers_of_one_entry_leave_a_whole_one(tmp_path: Path) -> None:
    """Whoever comes last wins; nobody reads half."""
    seen: set[bytes | None] = set()

    def work(number: int) -> None:
        store = Cache(tmp_path)
        for _ in range(30):
            store.put("a" * 64, bytes([number]) * 5000)
            seen.add(store.get("a" * 64))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen <= {bytes([number]) * 5000 for number in range(4)}


def test_the_cache_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lies where the system keeps caches; a relative path would lie in whatever folder is at hand."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg" / "trainyard"
    monkeypatch.setenv("XDG_CACHE_HOME", "xdg")
    assert cache.folder().is_absolute()


def test_nothing_inside_a_checkout_is_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A branch could hold entries for whoever looks at it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "checkout/.cache"))
    assert cache.private("rules", outside=tmp_path / "checkout") is None
    assert cache.private("rules", outside=tmp_path / "another") is not None


def test_a_cache_is_a_folder_that_nobody_else_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a link nor a folder that others may write into is believed or touched."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    previous = os.umask(0o002)
    try:
        assert cache.private("made") is not None
    finally:
        os.umask(previous)
    (tmp_path / "photos").mkdir()
    (tmp_path / "trainyard/linked").symlink_to(tmp_path / "photos")
    assert cache.private("linked") is None
    (tmp_path / "trainyard/shared").mkdir()
    (tmp_path / "trainyard/shared").chmod(0o777)
    assert cache.private("shared") is None


def test_only_entries_are_removed(tmp_path: Path) -> None:
    """Files that the cache cannot have written stay, however large they are."""
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(bytes(50_000))
    os.utime(photo, (0, 0))
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / ("c" * 62)).symlink_to(photo)
    store = Cache(tmp_path, limit_bytes=10_000)
    for number in range(10):
        store.put(cache.key(str(number)), bytes(1500))
    Cache(tmp_path, limit_bytes=10_000).trim()
    assert photo.stat().st_size == 50_000
    assert (tmp_path / "ab" / ("c" * 62)).is_symlink()
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and len(path.name) == 62 and not path.is_symlink()]
    assert 0 < len(kept) < 10


def test_entries_are_counted_every_hour(tmp_path: Path) -> None:
    """Counting thousands takes longer than what most commands do besides."""
    names = [cache.key(str(number)) for number in range(10)]
    for name in names:
        Cache(tmp_path, limit_bytes=10_000).put(name, bytes(1500))
    assert all(Cache(tmp_path).get(name) for name in names)
    age(tmp_path / cache.STAMP, 2 * cache.TRIM_SECONDS)
    Cache(tmp_path, limit_bytes=10_000).put(names[0], bytes(1500))
    assert 0 < sum(Cache(tmp_path).get(name) is not None for name in names) < 10


# The disk's memory.


def scan(root: Path) -> dict[str, str | None]:
    """Scan with what an earlier scan remembers, and remember."""
    disk = Disk(root, Cache(root / ".cache"))
    found = dict(disk.scan("top"))
    disk.save()
    return found


def age(path: Path, seconds: int = 100) -> None:
    """Make a file look old, as far as times can be set."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - seconds * 1_000_000_000 + 1))


def test_a_scan_finds_every_file(tmp_path: Path) -> None:
    """Files are named by content as Git does; links have none."""
    (tmp_path / "top/a/b").mkdir(parents=True)
    (tmp_path / "top/a/b/c.txt").write_bytes(b"c")
    (tmp_path / "top/d.txt").write_bytes(b"d")
    (tmp_path / "top/link").symlink_to("d.txt")
    (tmp_path / "top/folder").symlink_to("a")
    expected = {"a/b/c.txt": blob_id(b"c"), "d.txt": blob_id(b"d"), "link": None, "folder": None}
    assert scan(tmp_path) == scan(tmp_path) == expected
    assert Disk(tmp_path).scan("missing") == {}


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """Also if its size stays and its time is set back."""
    path = tmp_path / "top/a.txt"
    path.parent.mkdir()
    path.write_bytes(b"one")
    age(path)
    before = path.stat()
    assert scan(tmp_path) == {"a.txt": blob_id(b"one")}
    assert scan(tmp_path) == {"a.txt": blob_id(b"one")}
    path.write_bytes(b"two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert scan(tmp_path) == {"a.txt": blob_id(b"two")}


def test_a_file_that_was_just_written_is_read_again(tmp_path: Path) -> None:
    """Two writes within one tick of the clock have the same times, so a young file is not trusted."""
    path = tmp_path / "top/a.txt"
    path.parent.mkdir()
    for number in range(50):
        path.write_bytes(b"%02d" % number)
        assert scan(tmp_path) == {"a.txt": blob_id(b"%02d" % number)}
    assert 0 < SETTLED_NS < COARSE_NS


def test_a_file_that_is_trusted_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An old file that was read before costs a look at its times only: what is remembered is taken at its word."""
    monkeypatch.setattr(disk, "SETTLED_NS", -(10**12))
    monkeypatch.setattr(disk, "COARSE_NS", -(10**12))
    (tmp_path / "top").mkdir()
    (tmp_path / "top/a.txt").write_bytes(b"one")
    scan(tmp_path)
    (entry,) = entries(tmp_path / ".cache")
    told = entry.read_bytes()[cache.DIGEST_BYTES :].replace(blob_id(b"one").encode(), blob_id(b"two").encode())
    Cache(tmp_path / ".cache").put(entry.parent.name + entry.name, told)
    assert scan(tmp_path) == {"a.txt": blob_id(b"two")}


def test_what_was_written_is_remembered_only_if_nobody_changed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor that is quicker than the end of a synth is not overlooked."""
    monkeypatch.setattr(disk, "SETTLED_NS", -(10**12))
    monkeypatch.setattr(disk, "COARSE_NS", -(10**12))
    (tmp_path / "top").mkdir()
    writing = Disk(tmp_path, Cache(tmp_path / ".cache"))
    for name in ("a", "b", "c"):
        (tmp_path / "top" / name).write_bytes(b"ours")
        writing.wrote("top", name, blob_id(b"ours"))
    (tmp_path / "top/b").write_bytes(b"theirs")
    (tmp_path / "top/c").unlink()
    writing.save()
    assert scan(tmp_path) == {"a": blob_id(b"ours"), "b": blob_id(b"theirs")}
