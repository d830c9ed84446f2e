"""Repairs to try on specs: a change of what one file says, and the finding that is the cause of what it takes away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from trainyard.base.findings import Finding, Path
from trainyard.base.system.repository import CLUSTERS, SETTINGS, TEAMS
from trainyard.judge.causes import edits
from trainyard.judge.causes.trial import Gone, file_of, is_of_platform, with_value
from trainyard.specs.load import Loaded
from trainyard.specs.releases import releases

NEAR = re.compile(r"did you mean '([^']+)'\?")
"""How a finding proposes another name."""

WORD = re.compile(r"[\w-]+")

Edit = Callable[[Loaded], Loaded | None]
"""What makes repaired specs of others, None where nothing readable is left."""

Change = Callable[[Any], Any]
"""What makes another value of what a file says."""


@dataclass(frozen=True)
class Values:
    """Changes of what files say, by the key of the spec."""

    changes: tuple[tuple[str, Change], ...]

    def __call__(self, loaded: Loaded) -> Loaded | None:
        """Return specs with these changes, one on top of the other; None where one of them makes no spec."""
        values: dict[str, Any] = {}
        for key, change in self.changes:
            values[key] = change(values[key] if key in values else value_of(loaded, key))
        for key, value in values.items():
            made = None if value is edits.NOTHING else with_value(loaded, key, value)
            if made is None:
                return None
            loaded = made
        return loaded


@dataclass(frozen=True)
class Repair:
    """A repair, and the finding that is the cause of what it takes away."""

    edit: Edit
    root: Finding | None = None
    """The error that stands there; None where nothing was found there yet."""
    say: Callable[[Gone], Finding | None] = field(default=lambda _: None)
    """What is said where nothing was found, None where too little follows from it."""
    since_base: bool = False
    """Whether it puts back what a change touched."""
    unless: Edit | None = None
    """Another repair of the same; where that one is none, this one needs few uses to be believed."""


def key_of(file: str) -> str:
    """Return the key of the spec in a file of the platform."""
    if file == SETTINGS:
        return "repository"
    kind = {CLUSTERS: "cluster", TEAMS: "team"}[file.rpartition("/")[0]]
    return f"{kind}/{file.rpartition('/')[2].removesuffix('.yaml')}"


def value_of(loaded: Loaded, key: str) -> Any:
    """Return the value of a file of the platform, NOTHING of one that could not be read."""
    source = loaded.specs.sources.get(key)
    return edits.NOTHING if source is None or source.document is None else source.document.value


def one(finding: Finding, change: Change) -> Values:
    """Return the edit of a finding's file."""
    return Values(((key_of(finding.location.file), change),))


def of_errors(loaded: Loaded, findings: list[Finding]) -> Iterator[Repair]:
    """Yield repairs of the errors in the platform's files.

    First what is proposed, then what may lack, then files that cannot be read without their wrong fields, and at last
    fields taken out, inner ones first.
    """
    errors = [finding for finding in findings if finding.is_error and finding.path and is_of_platform(finding)]
    known = [(finding, value_of(loaded, key_of(finding.location.file))) for finding in errors]
    placed = [(finding, edits.path_of(value, finding.path or "")) for finding, value in known]
    whole = [(finding, path) for finding, path in placed if key_of(finding.location.file) not in loaded.broken]
    for finding, path in whole:
        if found := NEAR.search(finding.message):
            yield Repair(one(finding, partial(proposed, path=path, near=found[1], message=finding.message)), finding)
    for finding, _ in whole:
        for name in sorted(releases().keys() & set(WORD.findall(finding.message))):
            yield Repair(one(finding, partial(with_operator, name=name)), finding)
    yield from of_files(loaded, placed)
    for finding, path in sorted(whole, key=lambda item: -len(item[1])):
        if path and is_plain(edits.value_at(value_of(loaded, key_of(finding.location.file)), path)):
            yield Repair(one(finding, partial(edits.put, path=path, new=edits.NOTHING)), finding)


def is_plain(value: Any) -> bool:
    """Say whether a value holds no fields of its own: without those, what is wrong in them would go away too."""
    return not any(isinstance(item, (dict, list)) for item in (value if isinstance(value, list) else [value]))


def of_files(loaded: Loaded, errors: list[tuple[Finding, Path]]) -> Iterator[Repair]:
    """Yield a repair of each file that cannot be read as a spec: of all of its errors together."""
    for key in sorted(loaded.broken):
        mine = [(finding, path) for finding, path in errors if finding.location.file == file_of(key) and path]
        first = min((finding for finding, _ in mine), key=lambda item: item.order, default=None)
        for change in (mended, drop_field):
            changes = [(key, partial(change, path=path, message=finding.message)) for finding, path in mine]
            if first is not None:
                yield Repair(Values(tuple(reversed(changes))), first)


def mended(value: Any, path: Path, message: str) -> Any:
    """Return a value with what a message proposes for a field, without the field where it proposes nothing."""
    near = NEAR.search(message)
    return proposed(value, path, near[1], message) if near else edits.put(value, path, edits.NOTHING)


def drop_field(value: Any, path: Path, message: str) -> Any:  # noqa: ARG001 - called as `mended` is
    """Return a value without a field."""
    return edits.put(value, path, edits.NOTHING)


def proposed(value: Any, path: Path, near: str, message: str) -> Any:
    """Return a spec with the name that a message proposes, where the wrong one stands: as a value, or as a key."""
    there = edits.value_at(value, path)
    outer = edits.value_at(value, path[:-1])
    if not isinstance(outer, dict) or (isinstance(there, str) and repr(there) in message):
        return edits.put(value, path, near)
    return edits.put(value, path[:-1], {near if key == path[-1] else key: item for key, item in outer.items()})


def with_operator(value: Any, name: str) -> Any:
    """Return a cluster that has another operator, in its newest release."""
    return edits.put(value, ("operators", name), {"version": releases()[name].newest_first[0]})


def name_at(value: Any, path: Path) -> str | None:
    """Return the name that stands at a path: a text, or else the key of what stands there."""
    there = edits.value_at(value, path)
    name = there if isinstance(there, str) else path[-1] if path else None
    return name if isinstance(name, str) else None
