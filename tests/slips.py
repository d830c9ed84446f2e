"""Mistakes that people make, as small edits of right files, and what is said of each: `mistakes/*.yaml`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from conftest import TESTS
from trainyard.findings import Finding, Severity

HERE = TESTS / "mistakes"
BASE = HERE / "base"
MARK = "▸"
"""Stands in what somebody wrote where the mistake must be told."""

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
    """A rule's id, or `fine`."""
    beside: tuple[str, ...]
    """Other jobs in the same repository."""
    where: str
    """The file in which it must be told."""
    also: frozenset[str]
    """Rules that may speak too."""
    known: str
    """Why it is not told, where it is not."""

    @property
    def written(self) -> str:
        """The file as somebody wrote it."""
        return self.text.replace(MARK, "")

    @property
    def place(self) -> tuple[int, int] | None:
        """Line and column of the mark, from 1; None for what is fine."""
        before, mark, _ = self.text.partition(MARK)
        if self.where != self.file:
            return None
        return (before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1) if mark else None


def slips(group: str) -> Iterator[Slip]:
    """Yield the mistakes of one file of them."""
    for file, entries in yaml.safe_load((HERE / f"{group}.yaml").read_text(encoding="utf-8")).items():
        for entry in entries:
            yield read(group, file, entry)


def read(group: str, file: str, entry: dict[str, Any]) -> Slip:
    """Make the edits of an entry; each must hit."""
    text = (BASE / file).read_bytes().decode()
    for old, new in [(entry["old"], entry["new"]), *entry.get("edits", ())]:
        assert old in text, f"{file} has no {old!r}: {entry['name']}"
        text = text.replace(old, new, 1)
    where = entry.get("in", file)
    if "at" in entry and where == file:
        text = text.replace(MARK, "")
        marked = entry["at"]
        assert marked.replace(MARK, "") in text, f"{file} has no {marked!r}: {entry['name']}"
        text = text.replace(marked.replace(MARK, ""), marked, 1)
    beside = tuple(entry["with"].split()) if "with" in entry else ()
    also = frozenset(entry.get("also", ()))
    return Slip(group, entry["name"], file, text, entry["says"], beside, where, also, entry.get("known", ""))


def write(slip: Slip, root: Path) -> Path:
    """Write a repository of the platform and the one file, with what it needs beside it."""
    shutil.copytree(BASE / "platform", root / "platform")
    shutil.copytree(BASE / "jobs/nlp/train", root / "jobs/nlp/train")
    for file in (*slip.beside, *(("jobs/nlp/first.yaml",) if slip.file.startswith("platform/") else ())):
        (root / file).write_bytes((BASE / file).read_bytes())
    path = root / slip.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(slip.written.encode())
    return root


def found(slip: Slip, root: Path) -> list[Finding]:
    """Return what is said of a mistake: of the specs, and where no error stands there, of what would be rendered."""
    if slip.group == "strangers":
        return judged(slip, root)
    from trainyard.plan.whole import everything
    from trainyard.preflight import check_repository

    write(slip, root)
    checked = check_repository(root)
    if checked.refused:
        return checked.findings
    result, _ = everything(root, "1.0.0")
    return [each for each in result.findings if each.rule not in ALWAYS]


def judged(slip: Slip, root: Path) -> list[Finding]:
    """Return what is said of a stranger's manifest."""
    from trainyard.cli.check import manifests

    root.mkdir()
    path = root / Path(slip.file).name
    path.write_bytes(slip.written.encode())
    return list(manifests([str(path)]).findings)


def speaks(finding: Finding, slip: Slip) -> bool:
    """Whether a finding is of the right severity, where the mark is."""
    if slip.says in {"error", "warning"} and (finding.severity is Severity.ERROR) != (slip.says == "error"):
        return False
    return slip.place is None or (finding.location.line, finding.location.column) == slip.place
