"""Repairs to try: of a field with an error the value that is near, or none; of names that nobody declares, a new name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any

from trainyard.base.findings import Finding, Path
from trainyard.base.limits import NAME_LETTERS
from trainyard.base.system.repository import CLUSTERS, SETTINGS, TEAMS
from trainyard.judge.causes import edits
from trainyard.judge.causes.trial import Edit, Gone, is_of_platform, with_value
from trainyard.specs.load import Loaded

NEAR = re.compile(r"did you mean '([^']+)'\?")
"""How a finding proposes another name."""

CUTOFF = 0.75
"""How alike two names are of which one may be the other misspelt (difflib)."""


@dataclass(frozen=True)
class Repair:
    """A repair, and the finding that is the cause of what it takes away."""

    edit: Edit
    root: Finding | None = None
    """The error that stands there; None where nothing was found there yet."""
    say: Callable[[Gone], Finding | None] = lambda _: None
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


def value_of(loaded: Loaded, file: str) -> Any:
    """Return what a file of the platform says, NOTHING of one that could not be read as a spec."""
    name = key_of(file)
    source = loaded.specs.sources.get(name)
    usable = source is not None and source.document is not None and name not in loaded.broken
    return source.document.value if usable and source and source.document else edits.NOTHING


def of_errors(loaded: Loaded, findings: list[Finding]) -> Iterator[Repair]:
    """Yield repairs of the errors in the platform's files: first what is proposed, then fields taken out, inner first."""
    errors = [finding for finding in findings if finding.is_error and finding.path and is_of_platform(finding)]
    placed = [(finding, value_of(loaded, finding.location.file)) for finding in errors]
    known = [
        (finding, edits.path_of(value, finding.path or ""), value) for finding, value in placed if value is not edits.NOTHING
    ]
    for finding, path, value in known:
        if found := NEAR.search(finding.message):
            yield Repair(with_edit(finding, proposed(value, path, found[1])), finding)
    for finding, path, value in sorted(known, key=lambda item: -len(item[1])):
        if path:
            yield Repair(with_edit(finding, edits.put(value, path, edits.NOTHING)), finding)


def with_edit(finding: Finding, value: Any) -> Edit:
    """Return the edit that gives a finding's file another value."""
    return partial(with_value, name=key_of(finding.location.file), value=value)


def proposed(value: Any, path: Path, near: str) -> Any:
    """Return a spec with the name that a finding proposes, where the wrong one stands: as a value, or as a key."""
    there = edits.value_at(value, path)
    if isinstance(there, str) or not path:
        return edits.put(value, path, near)
    outer = edits.value_at(value, path[:-1])
    if not isinstance(outer, dict):
        return value
    return edits.put(value, path[:-1], {near if key == path[-1] else key: item for key, item in outer.items()})


def missing_names(loaded: Loaded, findings: list[Finding]) -> Mapping[tuple[str, str], list[Finding]]:
    """Return the errors that stand at a name which may be declared nowhere, by the spec that lacks it and the name."""
    jobs = {file.source.file: file for file in loaded.specs.jobs}
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        file = finding.location.file
        if not finding.is_error or not finding.path:
            continue
        if is_of_platform(finding):
            value, keys = value_of(loaded, file), (key_of(file),)
        elif job := jobs.get(file):
            document = job.source.document
            value = document.value if document else job.job.model_dump(mode="json", by_alias=True)
            keys = (f"cluster/{job.job.cluster}", f"team/{job.team}")
        else:
            continue
        name = name_at(value, edits.path_of(value, finding.path))
        if name is not None and len(name) <= NAME_LETTERS:
            for key in keys:
                found.setdefault((key, name), []).append(finding)
    return found


def name_at(value: Any, path: Path) -> str | None:
    """Return the name that stands at a path: a text, or else the key of what stands there."""
    there = edits.value_at(value, path)
    name = there if isinstance(there, str) else path[-1] if path else None
    return name if isinstance(name, str) else None


def near_keys(value: Any, name: str) -> Iterator[Path]:
    """Yield the names that a spec declares and that may be another one misspelt, which it does not declare itself."""
    paths = [path for path, _ in edits.fields(value) if isinstance(path[-1], str)]
    beside = {path[:-1] for path in paths if path[-1] == name}
    words = sorted({str(path[-1]) for path in paths if path[:-1] not in beside} - {name})
    near = set(get_close_matches(name, words, n=3, cutoff=CUTOFF))
    yield from (path for path in paths if path[-1] in near)
