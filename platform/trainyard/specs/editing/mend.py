"""Mend in a file what takes no thought: a misspelt field, a text that lacks its quotes, an ending.

Only the words themselves are changed, where they stand: comments, order and form of the file stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from trainyard.documents import load
from trainyard.findings import Finding

MISSPELT = re.compile(r"(?:^|, )(?:unknown )?field '([^']+)'.*; did you mean '([^']+)'\?$")
"""What is said of a field that is not there, where one name is near."""

UNQUOTED = re.compile(r", but should be text; (?:write it in quotes|quote it)$")
"""What is said of a number or a truth where a text belongs."""

ENDING = re.compile(r"^file ends in \.yml; rename it to \S+\.yaml$")

WORD = re.compile(r"[^\s,\[\]{}#\"'&*!|>%@`]+")
"""A plain scalar that is a number or a truth; of other forms nothing is changed."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One word of a file and what takes its place; line and column count from 1."""

    line: int
    column: int
    old: str
    new: str


def renamed(findings: Iterable[Finding]) -> Mapping[str, str]:
    """Return the files whose ending is wrong, each with its right name."""
    wrong = (each.location.file for each in findings if ENDING.match(each.message))
    return {file: f"{file.removesuffix('.yml')}.yaml" for file in wrong}


def mended(text: str, file: str, findings: Iterable[Finding]) -> str:
    """Return a file's text without what can be mended of the findings in it.

    An edit that the file does not bear, since the field is there already or the text is read in another way, is left.
    """
    edits = {found for each in findings if each.location.file == file and (found := edit(each, text)) is not None}
    for each in sorted(edits, key=lambda found: (found.line, found.column), reverse=True):
        text = applied(text, file, each)
    return text


def edit(finding: Finding, text: str) -> Edit | None:
    """Return what mends a finding, None where that takes thought."""
    where, lines = finding.location, text.split("\n")
    if where.line is None or where.column is None or where.line > len(lines) or finding.hide:
        return None
    rest = lines[where.line - 1][where.column - 1 :]
    if (found := MISSPELT.search(finding.message)) and rest.lstrip("\"'").startswith(found[1]):
        quoted = len(rest) - len(rest.lstrip("\"'"))
        return Edit(where.line, where.column + quoted, found[1], found[2])
    if UNQUOTED.search(finding.message) and (word := WORD.match(rest)):
        return Edit(where.line, where.column, word[0], f'"{word[0]}"')
    return None


def applied(text: str, file: str, each: Edit) -> str:
    """Return the text with an edit, or as it was where the edit makes a file that cannot be read as well."""
    lines = text.split("\n")
    line, at = lines[each.line - 1], each.column - 1
    lines[each.line - 1] = line[:at] + each.new + line[at + len(each.old) :]
    after = "\n".join(lines)
    return after if len(wrong(after, file)) <= len(wrong(text, file)) else text


def wrong(text: str, file: str) -> list[Finding]:
    """Return what is wrong with a text before anybody looks at what it says."""
    return load(text.encode("utf-8", "surrogateescape"), file=file)[1]
