"""Copy finished checkpoints from a node's own disk to the volume that stays, and give new pods the newest of them.

Pods run this file alone, with Python 3.9 or later: `restore` before training, `keep` beside it (docs/checkpoints.md).

Node 0 leads. `restore` of all nodes agrees on an epoch: the pods of one attempt, each known by a token. Only an epoch's
pods add to its checkpoints, so files of two attempts never mix. The leader fences the last epoch: it renames that
epoch's folder, from which alone a checkpoint can be committed, before it chooses what to restore. A commit is the
rename of a folder in which everything is on disk. So nothing is committed that a later choice does not see.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MARK = ".flushed"
"""File in a committed checkpoint: its step, and size and SHA-256 of every file."""

OWN = ".flush"
"""Folder of this program, on the local disk and on the volume."""

CHUNK = 4 << 20
"""Bytes that are copied at a time."""

STEP = re.compile(r"(?:step|iter|iteration|checkpoint|ckpt)[-_=.]*(\d+)|^(\d+)$", re.IGNORECASE)

LOCAL, DURABLE = Path(os.environ.get("FLUSH_LOCAL", "/checkpoints")), Path(os.environ.get("FLUSH_DURABLE", "/durable"))
INDEX, NODES = int(os.environ.get("JOB_COMPLETION_INDEX") or "0"), int(os.environ.get("FLUSH_NODES", "1"))
KEEP, MARKER = int(os.environ.get("FLUSH_KEEP", "3")), os.environ.get("FLUSH_MARKER", ".metadata")
RATE = int(os.environ.get("FLUSH_BYTES_PER_SECOND", "0"))
LOOK = float(os.environ.get("FLUSH_LOOK_SECONDS", "1"))
PATIENCE = float(os.environ.get("FLUSH_PATIENCE_SECONDS", "3600"))
LINGER = 20 * LOOK
"""Seconds that another node than the first waits for a last checkpoint once its training has ended."""

Files = dict[str, list[Any]]
Found = tuple[int, Path, str]


def say(text: str) -> None:
    """Print a line at once."""
    print(f"flush: {text}", flush=True)  # noqa: T201 - its log is how people see it


def step_of(name: str) -> int | None:
    """Return the step in a checkpoint's name, such as `step-300`, or None."""
    found = STEP.search(name)
    return int(found.group(1) or found.group(2)) if found else None


def sync(path: Path) -> None:
    """Wait until a folder's entries are on disk."""
    handle = os.open(str(path), os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write(path: Path, value: Any) -> None:
    """Write JSON in one piece: whoever reads sees all of it, or what was there before."""
    new = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with new.open("w") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError:
        new.unlink() if new.exists() else None
        raise
    sync(path.parent)


def read(path: Path) -> Any:
    """Return the JSON in a file, or None where there is none."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return None


def remove(path: Path) -> None:
    """Take a folder away in one piece, and then delete it."""
    gone = DURABLE / OWN / f"gone-{uuid.uuid4().hex}"
    try:
        path.rename(gone)
    except OSError:
        return
    shutil.rmtree(gone, ignore_errors=True)


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of each file of a folder, by its path there."""
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            stat = path.stat()
            found[str(path.relative_to(folder))] = (stat.st_size, stat.st_mtime_ns)
    return found


def complete() -> list[Found]:
    """Return the complete checkpoints on the volume, oldest first: step, folder, and its name for the program.

    A folder with the program's marker alone was saved here directly, before the job had a local tier.
    """
    found = []
    for folder in DURABLE.iterdir():
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        step, said = step_of(folder.name), read(folder / MARK)
        if said is not None:
            found += [(said["step"], folder, said["name"])] if is_whole(folder, said["files"]) else []
        elif step is not None and not (folder / MARK).exists() and (folder / MARKER).is_file():
            found.append((step, folder, folder.name))
    return sorted(found)


def is_whole(folder: Path, files: Files) -> bool:
    """Say whether every file is there with its size."""
    try:
        return all((folder / name).stat().st_size == said[0] for name, said in files.items())
    except OSError:
        return False


# Before training: agree on an epoch and on the checkpoint that all nodes begin with.


def restore() -> int:
    """Wait for the other nodes, and show the newest complete checkpoint in the local folder."""
    own, members = LOCAL / OWN, DURABLE / OWN / "members"
    for old in LOCAL.iterdir():
        shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
    own.mkdir()
    members.mkdir(parents=True, exist_ok=True)
    token, until = uuid.uuid4().hex, time.monotonic() + PATIENCE
    write(own / "token", token)
    if INDEX == 0:
        write(members / "0", {"token": token, "leader": token})
    leader = None
    while time.monotonic() < until:
        now = (read(members / "0") or {}).get("token")
        if INDEX and now is not None and now != leader:
            leader = now
            write(members / str(INDEX), {"token": token, "leader": leader})
        if INDEX == 0 and now != token:
            say("another pod leads this job now; this one ends")
            return 1
        epoch = begin(members, token) if INDEX == 0 else read(DURABLE / OWN / "epoch")
        if epoch and len(epoch["members"]) == NODES and epoch["members"][INDEX] == token:
            show(epoch["restore"])
            write(own / "epoch", epoch["id"])
            return 0
        time.sleep(LOOK)
    say(f"the other nodes did not come within {PATIENCE:.0f} seconds")
    return 1


def begin(members: Path, token: str) -> Any:
    """Return a new epoch once all nodes answer this leader, with the last one fenced; None until then."""
    said = [read(members / str(index)) or {} for index in range(NODES)]
    if any(member.get("leader") != token for member in said):
        return None
    tokens = [member["token"] for member in said]
    name = hashlib.sha256(" ".join(tokens).encode()).hexdigest()[:16]
    for old in (DURABLE / OWN).iterdir():
        if old.is_dir() and old.name != "members" and not old.name.startswith("gone-"):
            old.rename(DURABLE / OWN / f"gone-{uuid.uuid4().hex}")
    sync(DURABLE / OWN)
    found = complete()
    (DURABLE / OWN / f"epoch-{name}").mkdir()
    epoch = {"id": name, "members": tokens, "restore": [found[-1][1].name, found[-1][2]] if found else None}
    write(DURABLE / OWN / "epoch", epoch)
    return epoch


def show(chosen: list[str] | None) -> None:
    """Link the files of a checkpoint into the local folder, under the name by which the program saved it."""
    if chosen is None:
        say("no complete checkpoint on the volume; training begins at the beginning")
        return
    folder, name = chosen
    for path in files_of(DURABLE / folder):
        if path != MARK:
            link = LOCAL / name / path
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(DURABLE / folder / path)
    say(f"restored {name}")


# Beside training: copy what it saves.


class End:
    """Whether training has ended, of which the kubelet tells by SIGTERM."""

    at: float | None = None

    def tell(self, *_: object) -> None:
        """Remember the time."""
        self.at = self.at or time.monotonic()

    def since(self, other: float) -> float:
        """Return the seconds since then, or since another time that is later."""
        return time.monotonic() - max(self.at or 0.0, other)


class Copies:
    """A node's part in the checkpoints of its epoch."""

    def __init__(self, epoch: str, end: End) -> None:
        self.folder, self.end = DURABLE / OWN / f"epoch-{epoch}", end
        self.pins = LOCAL / OWN / "pins"

    def superseded(self) -> bool:
        """Say whether a later attempt has begun, so that nothing of this one counts any more."""
        return not self.folder.is_dir()

    def deliver(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Copy this node's files of a checkpoint, and return the note that says so."""
        number, target = wanted["round"], self.folder / str(wanted["round"])
        note: dict[str, Any] = {"ok": True, "files": {}}
        try:
            for path, source in self.pin(wanted["name"]):
                note["files"][path] = copy(source, target / path, target)
        except OSError as error:
            note = {"ok": False, "why": f"node {INDEX}: {error}"}
        while not self.superseded() and read(self.folder / "wanted") == wanted:
            try:
                write(self.folder / f"{number}.{INDEX}", note)
                break
            except OSError as error:
                say(f"the note cannot be written: {error}")
                time.sleep(LOOK)
        shutil.rmtree(self.pins, ignore_errors=True)
        self.prune_local(wanted["step"])
        return note

    def pin(self, name: str) -> list[tuple[str, Path]]:
        """Return links to a checkpoint's files by path, which stay though the program deletes its own."""
        shutil.rmtree(self.pins, ignore_errors=True)
        before, pinned = files_of(LOCAL / name), []
        for path in before:
            link = self.pins / path
            link.parent.mkdir(parents=True, exist_ok=True)
            os.link(str(LOCAL / name / path), str(link))
            pinned.append((path, link))
        if not before or files_of(self.pins) != before or files_of(LOCAL / name) != before:
            raise OSError(f"{name} has no files here, or changed after it was complete")
        return sorted(pinned)

    def prune_local(self, step: int) -> None:
        """Delete what is older on the local disk: only rank 0 deletes, and does not see other nodes' disks."""
        for folder in LOCAL.iterdir():
            number = step_of(folder.name)
            if number is not None and number < step and folder.is_dir():
                shutil.rmtree(folder, ignore_errors=True)

    def follow(self) -> int:
        """Copy what the leader asks for, until training has ended and nothing more comes."""
        done, idle = 0, time.monotonic()
        while not self.superseded():
            wanted = read(self.folder / "wanted")
            if wanted is not None and wanted["round"] > done:
                done = wanted["round"]
                if not (self.folder / f"{done}.{INDEX}").exists():
                    self.deliver(wanted)
                idle = time.monotonic()
            elif self.end.at and ((self.folder / "over").exists() or self.end.since(idle) > LINGER):
                return 0
            else:
                time.sleep(LOOK)
        say("a later attempt of the job has begun; this one stores nothing any more")
        return 1


class Leader(Copies):
    """Node 0, which sees the program's marker, and commits what all nodes have copied."""

    first = -1
    """The newest step on the volume when this process began."""
    older: tuple[int, str] | None = None
    """A checkpoint that is older than that, and was told of."""

    def newest(self, last: int) -> tuple[int, str] | None:
        """Return step and name of the newest complete local checkpoint after a step, or None."""
        found = []
        for folder in LOCAL.iterdir():
            step = step_of(folder.name)
            if step is not None and (folder / MARKER).is_file() and not (folder / MARKER).is_symlink():
                found.append((step, folder.name))
        newest = max(found) if found else None
        if newest is not None and newest[0] < self.first and newest != self.older:
            self.older = newest
            say(f"step={newest[0]} is not stored: the volume has step={self.first}, from which training did not go on")
        return newest if newest is not None and newest[0] > last else None

    def lead(self) -> int:
        """Commit one checkpoint after the other, until training has ended and all are committed."""
        for old in (DURABLE / OWN).glob("gone-*"):
            shutil.rmtree(old, ignore_errors=True)
        done = complete()
        last, number = done[-1][0] if done else -1, self.last_round()
        self.first = last
        while not self.superseded():
            told, found = self.end.at is not None, self.newest(last)
            if found is not None:
                number += 1
                if self.flush(number, *found):
                    last = found[0]
                elif self.superseded():
                    break
                else:
                    time.sleep(5 * LOOK)
            elif told:
                write(self.folder / "over", True)
                return 0
            else:
                time.sleep(LOOK)
        say("a later attempt of the job has begun; this one stores nothing any more")
        return 1

    def last_round(self) -> int:
        """Return the last round of an earlier process of this pod."""
        return int((read(self.folder / "wanted") or {"round": 0})["round"])

    def flush(self, number: int, step: int, name: str) -> bool:
        """Have all nodes copy a checkpoint and commit it; return whether it is on the volume."""
        began, target = time.monotonic(), self.folder / str(number)
        try:
            self.clear(number)
            target.mkdir()
            wanted = {"round": number, "step": step, "name": name}
            write(self.folder / "wanted", wanted)
            note = self.deliver(wanted)
            notes = self.wait(number) if note["ok"] else [note]
            wrong = next((note["why"] for note in notes if not note["ok"]), None) or clash(notes)
            if wrong is None:
                files = {path: said for note in notes for path, said in note["files"].items()}
                self.commit(target, {"step": step, "name": name, "nodes": NODES, "files": files})
        except OSError as error:
            wrong = f"node 0: {error}"
        if wrong is not None:
            say(f"step={step} is not stored yet: {wrong}")
            if not self.superseded():
                self.clear(number + 1)
            return False
        size = sum(said[0] for said in files.values())
        say(f"stored step={step} files={len(files)} bytes={size} seconds={time.monotonic() - began:.1f}")
        self.prune()
        return True

    def wait(self, number: int) -> list[dict[str, Any]]:
        """Return the notes of all nodes, or the first that says that one could not; raises OSError if superseded."""
        while not self.superseded():
            notes = [read(self.folder / f"{number}.{index}") for index in range(NODES)]
            failed = [note for note in notes if note is not None and not note["ok"]]
            if failed or all(note is not None for note in notes):
                return failed or notes
            time.sleep(LOOK)
        raise OSError("a later attempt of the job has begun")

    def commit(self, target: Path, said: dict[str, Any]) -> None:
        """Make a folder with all files a checkpoint: the mark last, all on disk, then renamed in one piece."""
        if not is_whole(target, said["files"]):
            raise OSError("files of other nodes cannot be seen here")
        for path in files_of(target).keys() - said["files"].keys():
            (target / path).unlink()
        write(target / MARK, said)
        for root, _, _ in os.walk(target):
            sync(Path(root))
        final = DURABLE / said["name"]
        if final.exists():
            final = DURABLE / f"{said['name']}+{self.folder.name}"
        target.rename(final)
        sync(DURABLE)

    def clear(self, number: int) -> None:
        """Remove what rounds before this one have left."""
        for old in self.folder.iterdir():
            if old.name.partition(".")[0].isdigit() and int(old.name.partition(".")[0]) < number:
                remove(old) if old.is_dir() else old.unlink()

    def prune(self) -> None:
        """Remove all but the newest checkpoints from the volume."""
        for _, folder, _ in complete()[:-KEEP]:
            if not self.superseded():
                remove(folder)


def clash(notes: list[dict[str, Any]]) -> str | None:
    """Return in words that two nodes wrote different files of one name, or None."""
    seen: Files = {}
    for note in notes:
        for path, said in note["files"].items():
            if seen.setdefault(path, said) != said:
                return f"two nodes wrote different files {path}; each rank needs names of its own"
    return None


def copy(source: Path, target: Path, top: Path) -> list[Any]:
    """Copy a file at most as fast as is said, wait until it is on disk, and return its size and SHA-256."""
    make_below(top, target.parent)
    new, summed, size = target.with_name(f".{target.name}.{uuid.uuid4().hex}"), hashlib.sha256(), 0
    began = time.monotonic()
    try:
        with source.open("rb") as reads, new.open("wb") as writes:
            for chunk in chunks(reads):
                writes.write(chunk)
                summed.update(chunk)
                size += len(chunk)
                if RATE:
                    time.sleep(max(0.0, size / RATE - (time.monotonic() - began)))
            writes.flush()
            os.fsync(writes.fileno())
        new.replace(target)
    except OSError:
        new.unlink() if new.exists() else None
        raise
    return [size, summed.hexdigest()]


def make_below(top: Path, folder: Path) -> None:
    """Make a folder below another, but never that one again: a fenced epoch must stay away."""
    for name in reversed([folder, *folder.parents][: len(folder.parts) - len(top.parts)]):
        try:
            name.mkdir()
        except FileExistsError:
            continue


def chunks(file: Any) -> Iterator[bytes]:
    """Yield a file's bytes in pieces."""
    while True:
        piece = file.read(min(CHUNK, RATE) if RATE else CHUNK)
        if not piece:
            return
        yield piece


def keep() -> int:
    """Copy checkpoints until training has ended."""
    end = End()
    signal.signal(signal.SIGTERM, end.tell)
    epoch = read(LOCAL / OWN / "epoch")
    if epoch is None:
        say("no epoch is agreed on; `restore` must run before")
        return 1
    copies = Leader(epoch, end) if INDEX == 0 else Copies(epoch, end)
    say(f"node {INDEX} of {NODES} looks for checkpoints with {MARKER}")
    return copies.lead() if isinstance(copies, Leader) else copies.follow()


if __name__ == "__main__":
    try:
        sys.exit({"restore": restore, "keep": keep}[sys.argv[1]]())
    except OSError as failed:
        say(f"failed: {failed}")
        sys.exit(1)
