"""The ledger of a job: every run it ever had, in order; entries stay, only their state moves on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, cast, get_args

State = Literal["active", "replaced", "retired"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One run: what it was made from, by which release, and what became of it."""

    name: str
    spec: str
    """Digest of the job's fields as written; of older releases the characters alone that are in the run's name."""
    files: str
    """Digest of the run's files, see `digest`."""
    trainyard: str
    """The release that rendered it."""
    state: State = "active"

    def is_of(self, spec: str) -> bool:
        """Say whether it was made from the fields with that digest."""
        return spec.startswith(self.spec)


FIELDS = tuple(field.name for field in fields(Entry))
STATES = get_args(State)


def digest(contents: Mapping[str, str]) -> str:
    """Return one digest for a run's files: what `sha256sum * | sha256sum` prints in its folder, names sorted."""
    return digest_of_bytes({name: text.encode() for name, text in contents.items()})


def digest_of_bytes(contents: Mapping[str, bytes]) -> str:
    """Return the same digest of files as they are on disk."""
    lines = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(contents.items()))
    return "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()


def advance(past: Sequence[Entry], active: Entry | None, *, retired: bool = False) -> tuple[Entry, ...]:
    """Return the entries after a change that leaves `active` running, or nothing.

    Entries that were active and are not any more were retired, or else replaced.
    """
    ended: State = "retired" if retired else "replaced"
    running = active.name if active else None
    entries = [
        replace(entry, state=ended) if entry.state == "active" and entry.name != running else entry for entry in past
    ]
    if active and active.name not in {entry.name for entry in past}:
        entries.append(active)
    return tuple(entries)


def dump(entries: Sequence[Entry]) -> str:
    """Return the ledger as JSON with one run a line."""
    lines = ",\n".join("  " + json.dumps(values(entry), ensure_ascii=False) for entry in entries)
    return '{\n "runs": [\n' + lines + "\n ]\n}\n" if lines else '{\n "runs": []\n}\n'


def values(entry: Entry) -> dict[str, str]:
    """Return the fields of an entry by their names."""
    return {name: getattr(entry, name) for name in FIELDS}


def load(data: bytes) -> tuple[Entry, ...] | None:
    """Return the entries, or None where the text is no ledger."""
    try:
        return tuple(_entry(run) for run in json.loads(data)["runs"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _entry(run: Mapping[str, str]) -> Entry:
    if run.keys() != set(FIELDS) or not all(isinstance(run[name], str) for name in FIELDS):
        raise TypeError
    if run["state"] not in STATES:
        raise ValueError
    return Entry(run["name"], run["spec"], run["files"], run["trainyard"], cast("State", run["state"]))
