"""The program that copies data to local disks is run, killed and given wrong disks: no rank ever reads a torn file."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from trainyard.render.parts import stage_program

PROGRAM = Path(stage_program.__file__)
SMALL, LARGE = 60, 6_000_000
PART = 1_000_000


class Node:
    """A node's disk, the data at its source, and the program."""

    def __init__(self, folder: Path) -> None:
        self.source, self.disk = folder / "source", folder / "disk"
        chance = random.Random(1)
        for name in ("shards/inner", "nothing"):
            (self.source / name).mkdir(parents=True)
        self.disk.mkdir()
        (self.source / "empty.idx").touch()
        (self.source / "large.bin").write_bytes(chance.randbytes(LARGE))
        for index in range(SMALL):
            (self.source / f"shards/inner/{index}.tar").write_bytes(chance.randbytes(chance.randrange(1, 50_000)))
        self.log = folder / "log"

    @property
    def seen(self) -> Path:
        """What training mounts."""
        return self.disk / "data-0"

    @property
    def copied(self) -> int:
        """How many files the journal says are copied."""
        journal = self.disk / ".stage/data-0.journal"
        return len(journal.read_text().splitlines()) if journal.exists() else 0

    def start(self, room: int = 1 << 30, limit: int | None = None) -> subprocess.Popen[bytes]:
        """Start the program; `limit` are the bytes above which it can write no file."""
        plan = [{"name": "data-0", "from": str(self.source), "bytes": room}]
        env = {
            "PATH": os.environ["PATH"],
            "STAGE_LOCAL": str(self.disk),
            "STAGE_PLAN": json.dumps(plan),
            "STAGE_THREADS": "3",
            "STAGE_PART_BYTES": str(PART),
        }
        full = None if limit is None else (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        with self.log.open("a") as out:
            return subprocess.Popen([sys.executable, str(PROGRAM)], env=env, stdout=out, stderr=out, preexec_fn=full)

    def run(self, room: int = 1 << 30, limit: int | None = None) -> tuple[int, str]:
        """Run the program to its end, and return its exit code and its last line."""
        code = self.start(room, limit).wait(timeout=60)
        return code, self.log.read_text().splitlines()[-1]

    def is_whole(self) -> bool:
        """Say whether training would see exactly what is at the source."""
        return contents(self.seen) == contents(self.source)


def contents(folder: Path) -> Mapping[str, bytes | None]:
    """Return files and folders by their path."""
    found = folder.rglob("*")
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """Return a node with an empty disk."""
    return Node(tmp_path)


def test_killed_at_any_moment_it_goes_on_and_shows_nothing_before_all_is_there(node):
    """Whenever it is killed, training sees nothing; the last attempt copies only what was missing."""
    for least in (0, 5, 20, 45, SMALL + 1):
        process = node.start()
        while process.poll() is None and node.copied < least:
            assert not node.seen.exists()
        process.kill()
        if process.wait() == 0:
            break
        assert not node.seen.exists()
    before = node.copied
    code, line = node.run()
    assert (code, node.is_whole()) == (0, True)
    again = int(line.split("copied=")[1].split()[0])
    assert before >= 45
    assert again <= SMALL + 2 - 45


def spoil(node: Node) -> None:
    """Change a byte of a copied file, and keep its size and time, as a disk does that loses power."""
    path = node.seen / "shards/inner/7.tar"
    stat, data = path.stat(), bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def tear(node: Node) -> None:
    """Cut a copied file, and the last line of the journal."""
    path, journal = node.seen / "large.bin", node.disk / ".stage/data-0.journal"
    os.truncate(path, LARGE // 2)
    os.truncate(journal, journal.stat().st_size - 5)
    with journal.open("ab") as file:  # what a disk may hold that lost power
        file.write(b"\x00\xff[1]\n5\n" + b"[" * 100_000 + b"\n")


def change(node: Node) -> None:
    """Replace, add and remove files at the source, one by a folder of its name."""
    (node.source / "shards/inner/3.tar").write_bytes(b"other")
    (node.source / "shards/inner/4.tar").unlink()
    (node.source / "empty.idx").unlink()
    (node.source / "empty.idx").mkdir()
    (node.source / "empty.idx/new").write_bytes(b"new")
    (node.source / "nothing").rmdir()
    (node.source / "nothing").write_bytes(b"something")


AGAIN: dict[str, tuple[Callable[[Node], object], int]] = {
    "nothing changed": (lambda node: None, 0),
    "a byte on the disk": (spoil, 1),
    "a file and the journal are torn": (tear, 1),
    "the data at the source": (change, 3),
}


def test_started_again_it_copies_only_what_is_not_there_as_it_should_be(node):
    """A container that starts again in its pod finds what is whole, by size, time and sums."""
    assert node.run()[0] == 0
    for what, (spoils, files) in AGAIN.items():
        spoils(node)
        code, line = node.run()
        assert (code, node.is_whole()) == (0, True), what
        assert f"copied={files} " in line, what


def test_data_that_changed_is_not_seen_half_old_and_half_new(node):
    """While a staged dataset is brought up to date, training sees nothing of it."""
    assert node.run()[0] == 0
    for index in range(SMALL):
        (node.source / f"shards/inner/{index}.tar").write_bytes(b"other")
    (node.source / "large.bin").write_bytes(b"x" * LARGE)
    before, process = node.copied, node.start()
    while process.poll() is None and node.copied < before + 5:
        pass
    process.send_signal(signal.SIGTERM)
    assert process.wait() in {0, 143}
    assert not node.seen.exists() or node.is_whole()
    assert node.run()[0] == 0
    assert node.is_whole()


def add_link(node: Node, to: str) -> None:
    """Put a link into the data."""
    (node.source / "link").symlink_to(to)


WRONG: dict[str, tuple[Callable[[Node], object], dict[str, int], str]] = {
    "more data than was said": (lambda node: None, {"room": 5_000_000}, "raise it"),
    "a full disk": (lambda node: None, {"limit": 3_000_000}, "File too large"),
    "a link to the pod": (lambda node: add_link(node, "/etc/passwd"), {}, "link is a link that leads out"),
    "a link to nothing": (lambda node: add_link(node, "gone"), {}, "link is a link that leads out"),
    "a link in a circle": (lambda node: add_link(node, "."), {}, "link is a link that leads out"),
    "a link to what it is in": (lambda node: (node.source / "shards/up").symlink_to("../shards"), {}, "that it is in"),
    "a pipe": (lambda node: os.mkfifo(node.source / "pipe"), {}, "pipe is neither a file nor a folder"),
    "an empty folder": (lambda node: (shutil.rmtree(node.source), node.source.mkdir()), {}, "has no files; correct"),
    "no data": (lambda node: node.source.rename(node.source.with_name("moved")), {}, "changes all the time"),
}


@pytest.mark.parametrize(("prepare", "limits", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_copied_ends_with_a_line(node, prepare, limits, said):
    """It ends with a reason in its last line, and training sees nothing."""
    prepare(node)
    code, line = node.run(**limits)
    assert code == 1
    assert said in line
    assert not node.seen.exists()


def test_links_within_the_data_are_followed(node):
    """A link to a file or a folder of the dataset becomes a copy."""
    add_link(node, "shards")
    assert node.run()[0] == 0
    assert (node.seen / "link/inner/1.tar").read_bytes() == (node.source / "shards/inner/1.tar").read_bytes()


def test_data_that_changes_all_the_time_is_never_shown(node):
    """Files that are written while they are copied are no dataset."""
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            with (node.source / "large.bin").open("ab") as file:
                file.write(b"more")
            time.sleep(0.001)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        code, line = node.run()
    finally:
        over.set()
        writer.join()
    assert code == 1
    assert "changes all the time" in line
    assert not node.seen.exists()
