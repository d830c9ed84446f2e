"""Mistakes that people make, as small edits of right files, and what is said of each: `mistakes/*.yaml`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from conftest import TESTS
from trainyard.base.errors import TrainyardError
from trainyard.base.findings import Finding, Location
from trainyard.judge.checks.result import place

HERE = TESTS / "mistakes"
BASE = HERE / "base"
GROUPS = ("jobs", "platform", "programs", "strangers", "second", "third", "fourth", "fifth")
MARK = "▸"
"""Stands in what somebody wrote where the mistake must be told, at the key or at its value."""

KEY = re.compile(r"[-\w./\"']+:[ \t]+")

ALWAYS = {"run/stale", "run/unproven"}
"""What is said of a tree that nobody has synthesised, and that is in no Git repository."""


@dataclass(frozen=True)
class Slip:
    """One mistake: the file, its whole text with the mark, and what must be said."""

    group: str
    name: str
    file: str
    text: str
    says: str
    """A rule's id, `fine`, or `stops` for what no finding tells but an error that ends the command."""
    beside: tuple[str, ...] = ()
    """Other jobs in the same repository."""
    also: frozenset[str] = frozenset()
    """Rules that may speak of what is fine."""
    column: int = 0
    """Where in the mark's line it is told, where that is neither the mark nor the value behind it."""
    rendered: bool = False
    """Whether only the objects show it that would be rendered."""
    known: str = ""
    """Why nothing is said of it, where nothing is."""

    @property
    def written(self) -> str:
        """The file as somebody wrote it."""
        return self.text.replace(MARK, "")

    @property
    def places(self) -> set[tuple[int, int]]:
        """Lines and columns at which it may be told, from 1; none where any will do."""
        before, mark, after = self.text.partition(MARK)
        if not mark:
            return set()
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
        value = KEY.match(after)
        behind = {(line, column + value.end())} if value else set()
        return {(line, self.column)} if self.column else {(line, column), *behind}


def slips(group: str) -> Iterator[Slip]:
    """Yield the mistakes of one file of them."""
    for file, entries in yaml.safe_load((HERE / f"{group}.yaml").read_text(encoding="utf-8")).items():
        for entry in entries:
            yield read(group, file, dict(entry))


def read(group: str, file: str, entry: dict[str, Any]) -> Slip:
    """Make the edits of an entry; each must hit."""
    text = (BASE / file).read_bytes().decode()
    for old, new in [(entry.pop("old"), entry.pop("new")), *entry.pop("edits", ())]:
        assert old in text, f"{file} has no {old!r}: {entry['name']}"
        text = text.replace(old, new, 1)
    if marked := entry.pop("at", ""):
        text = text.replace(MARK, "")
        assert marked.replace(MARK, "") in text, f"{file} has no {marked!r}: {entry['name']}"
        text = text.replace(marked.replace(MARK, ""), marked, 1)
    rest = {key: entry[key] for key in ("name", "says", "column", "rendered", "known") if key in entry}
    beside = tuple(str(entry.pop("with", "")).split())
    return Slip(group, file=file, text=text, beside=beside, also=frozenset(entry.pop("also", ())), **rest)


def write(slip: Slip, root: Path) -> None:
    """Write a repository of the platform and the one file, with what it needs beside it."""
    shutil.copytree(BASE / "platform", root / "platform")
    shutil.copytree(BASE / "jobs/nlp/train", root / "jobs/nlp/train")
    for file in (*slip.beside, *(() if slip.file.startswith("jobs/") else ("jobs/nlp/first.yaml",))):
        (root / file).write_bytes((BASE / file).read_bytes())
    path = root / slip.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(slip.written.encode())


def found(slip: Slip, root: Path) -> list[Finding]:
    """Return what is said of a mistake: of the specs, and where it takes that, of what would be rendered."""
    if slip.file.startswith("strangers/"):
        return judged(slip, root)
    from trainyard.change.plan.read.findings import everything
    from trainyard.judge.preflight import check_repository

    write(slip, root)
    try:
        if not slip.rendered:
            return check_repository(root).findings
        result, _ = everything(root, "1.0.0")
    except TrainyardError as error:
        return [Finding("stops", "spec", str(error), Location(slip.file))]
    return [finding for finding in result.findings if finding.rule not in ALWAYS]


def judged(slip: Slip, root: Path) -> list[Finding]:
    """Return what is said of a stranger's manifest."""
    from trainyard.faces.cli.check import manifests

    root.mkdir()
    path = root / Path(slip.file).name
    path.write_bytes(slip.written.encode())
    return list(manifests([str(path)]).findings)


def places(finding: Finding) -> tuple[int, int]:
    """Return line and column of what a person should edit."""
    where = finding.spec or finding.location
    return (where.line or 0, where.column or 0)


def told(slip: Slip, findings: Iterable[Finding]) -> bool:
    """Whether a finding of the rule stands at the mark."""
    right = (finding for finding in findings if finding.rule == slip.says)
    return any(not slip.places or places(item) in slip.places for item in right)


EDITED = ("jobs/", "platform/", "policies/")
"""Folders of a repository in which people write."""


def astray(slip: Slip, findings: Iterable[Finding]) -> list[str]:
    """Return the findings whose place is no line and column of a file that people write, as a reader is shown it."""
    shown = [] if slip.file.startswith("strangers/") else [(place(finding), finding) for finding in findings]
    return [
        f"{where}: {finding.message}"
        for where, finding in shown
        if not (where.file.startswith(EDITED) and where.line and where.column)
    ]
