"""Known findings in a file of their own: whatever is found beside them is new.

A finding is known again by its rule, its object, its field and its message, without the places of entries in lists:
whoever moves lines or files finds nothing new. Its file tells whether an entry without a finding was looked for.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from trainyard.base.documents import Document, dump, load
from trainyard.base.documents.comments import IGNORE
from trainyard.base.errors import TrainyardError
from trainyard.base.findings import Finding, Location, ObjectRef, Severity, without_indexes
from trainyard.base.manifests import group_of
from trainyard.base.system import files
from trainyard.base.system.files import PIPED
from trainyard.judge.checks.ignores.rules import BASELINE, SETTINGS
from trainyard.judge.checks.result import Ignored, Result

HEAD = "# Known findings. `trainyard validate --write-baseline {name}` writes this file again.\n"
VERSION = 1
TEXTS = ("rule", "file", "object", "field", "message")
NEVER = frozenset({BASELINE.id, IGNORE.id, SETTINGS.id})
"""Rules about what is ignored; their findings are never known ones."""


class Key(NamedTuple):
    """What a finding is known again by."""

    rule: str
    object: str
    field: str
    message: str


def key_of(finding: Finding, file: str) -> Key:
    """Return the key of a finding; the file stands for an object that it is not about."""
    about = identity(finding.object) if finding.object is not None else file
    return Key(finding.rule, about, without_indexes(finding.path or ""), without_indexes(finding.message))


def identity(ref: ObjectRef) -> str:
    """Return the object without its version, which may change: `batch/Job ml/train`, `Pod web`."""
    kind = "/".join(part for part in (group_of(ref.api_version), ref.kind) if part)
    return f"{kind} {'/'.join(part for part in (ref.namespace, ref.name) if part)}".strip()


@dataclass(slots=True)
class Baseline:
    """The entries of a file, and how many findings of each are still to come."""

    path: Path
    entries: list[tuple[Key, str, int, Location]]
    """Each with its file, how many findings it is for, and where it is written."""
    left: Counter[Key] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Expect every finding that is written."""
        for key, _, count, _ in self.entries:
            self.left[key] += count

    def take(self, finding: Finding) -> Ignored | None:
        """Return that a finding is known, as often as it is written."""
        key = key_of(finding, relative(finding.location.file, self.path))
        if self.left[key] < 1 or finding.rule in NEVER:
            return None
        self.left[key] -= 1
        where = next(place for entry, _, _, place in self.entries if entry == key)
        return Ignored(finding, "baseline", where)

    def unmatched(self, result: Result, judged: Iterable[str]) -> Iterator[Finding]:
        """Yield the entries without a finding, once all files were checked, or where the file is gone."""
        checked = {relative(name, self.path) for name in judged}
        unasked = {skipped.rule for skipped in result.skipped}
        for item in result.ignored:
            if item.way != "baseline":
                self.left[key_of(item.finding, relative(item.finding.location.file, self.path))] -= 1
        gone = {file for _, file, _, _ in self.entries if file != PIPED and not (self.path.parent / file).exists()}
        whole = all(file in checked | gone for _, file, _, _ in self.entries)  # else some need other files
        for key, file, count, place in self.entries:
            spare = min(count, self.left[key])
            if spare > 0 and key.rule not in unasked and (whole or file in gone):
                self.left[key] -= spare
                what = f"{key.object} has no finding of {key.rule!r}"
                said = what if spare == count else f"count is {count}, but {key.object} has {count - spare} of them"
                message = f"{said}; write the baseline again, or correct this entry"
                yield BASELINE.of(place, message, severity=Severity.WARNING)


def relative(name: str, baseline: Path) -> str:
    """Return a file's path from the folder of the baseline."""
    return name if name == PIPED else Path(os.path.relpath(name, baseline.parent)).as_posix()


def read(path: Path) -> tuple[Baseline, list[Finding]]:
    """Return a baseline and what is wrong with it; raises TrainyardError where the file cannot be read."""
    try:
        data = files.read_regular(path)
    except OSError as error:
        raise TrainyardError(f"baseline {path} cannot be read: {(error.strerror or str(error)).lower()}") from error
    documents, findings = load(data or b"", file=path.as_posix())
    value = documents[0].value if documents else None
    if not isinstance(value, dict) or value.get("version") != VERSION or not isinstance(value.get("findings"), list):
        if findings:
            return Baseline(path, []), findings
        raise TrainyardError(f"{path} is no baseline; write one with --write-baseline {path}")
    entries: list[tuple[Key, str, int, Location]] = []
    for index, item in enumerate(value["findings"]):
        found = entry(item, documents[0], index)
        if isinstance(found, Finding):
            findings.append(found)
        else:
            entries.append(found)
    return Baseline(path, entries), findings


def entry(item: Any, document: Document, index: int) -> tuple[Key, str, int, Location] | Finding:
    """Return one entry, or what is wrong with it."""
    place = document.location(("findings", index))
    if not isinstance(item, dict):
        return BASELINE.of(place, "entry is not a map; write the baseline again")
    texts = {name: item.get(name, "") for name in TEXTS}
    wrong = next((name for name, text in texts.items() if not isinstance(text, str)), None)
    missing = next((name for name in ("rule", "file", "message") if not texts[name]), None)
    count = item.get("count", 1)
    if wrong or missing:
        return BASELINE.of(place, f"entry has no text {wrong or missing!r}; write the baseline again")
    if type(count) is not int or count < 1:
        return BASELINE.of(place, f"count is {count!r}, but must be 1 or more; write the baseline again")
    key = Key(texts["rule"], texts["object"] or texts["file"], texts["field"], texts["message"])
    return key, texts["file"], count, place


def write(path: Path, findings: Iterable[Finding]) -> int:
    """Write the findings as known ones, sorted, and return how many there are; raises TrainyardError for other files.

    A file that is no baseline is not replaced.
    """
    if path.exists() and path.stat().st_size and read(path)[1]:
        raise TrainyardError(f"{path} exists and is no baseline; choose another file")
    found = [finding for finding in findings if finding.rule not in NEVER]
    counts: Counter[tuple[Key, str]] = Counter()
    for finding in found:
        file = relative(finding.location.file, path)
        counts[key_of(finding, file), file] += 1
    rows = [
        row(key, file, count) for (key, file), count in sorted(counts.items(), key=lambda item: (item[0][1], item[0]))
    ]
    files.write(path, HEAD.format(name=path.name) + dump({"version": VERSION, "findings": rows}))
    return len(found)


def row(key: Key, file: str, count: int) -> dict[str, Any]:
    """Return one entry as it is written; what says nothing is left out."""
    about = {} if key.object == file else {"object": key.object}
    place = {"field": key.field} if key.field else {}
    more = {"count": count} if count > 1 else {}
    return {"file": file, "rule": key.rule, **about, **place, "message": key.message, **more}
