"""Mend in a file what takes no thought: a misspelt field, quotes that lack or are too many, an ending.

Only the words themselves are changed, where they stand: comments, order and form of the file stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.documents import load
from trainyard.base.findings import Finding, Location, Path, format_path

MISSPELT = re.compile(r"(?:^|, )(?:unknown )?field '([^']+)'.*; did you mean '([^']+)'\?$")
"""What is said of a field that is not there, where one name is near."""

UNQUOTED = re.compile(r"\bmust be text(?:, but is [^;]*)?; (?:write it in quotes|quote it)$")
"""What is said of a number or a truth where a text belongs."""

QUOTED = re.compile(r" is '[1-9][0-9]*', but must be a whole number$")
"""What is said of a number in quotes where a number belongs."""

NUMBER = re.compile(r"""(["'])([1-9][0-9]*)\1(?=[\s,\]}]|$)""")

ENDING = re.compile(r"^file ends in \.yml; rename it to \S+\.yaml$")

WORD = re.compile(r"[^\s,\[\]{}#\"'&*!|>%@`]+")
"""A plain scalar that is a number or a truth; of other forms nothing is changed."""

END = r"(?:\s|$)"
"""What stands behind the colon of a plain key: without it the colon is part of a text, as in `bert:v1`."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One word of a file and what takes its place; line and column count from 1."""

    line: int
    column: int
    old: str
    new: str


def renamed_files(findings: Iterable[Finding]) -> Mapping[str, str]:
    """Return the files whose ending is wrong, each with its right name."""
    wrong = (finding.location.file for finding in findings if ENDING.match(finding.message))
    return {file: f"{file.removesuffix('.yml')}.yaml" for file in wrong}


def mend_text(text: str, file: str, findings: Iterable[Finding]) -> str:
    """Return a file's text without what can be mended of the findings in it.

    An edit that the file does not bear, since the field is there already or the text is read in another way, is left.
    """
    edits = {
        found for finding in findings if finding.location.file == file and (found := edit(finding, text)) is not None
    }
    for one_edit in sorted(edits, key=lambda found: (found.line, found.column), reverse=True):
        text = apply_edit(text, file, one_edit)
    return text


def edit(finding: Finding, text: str) -> Edit | None:
    """Return the edit that fixes a finding, None where that takes thought."""
    where, lines = finding.location, text.split("\n")
    if where.line is None or where.column is None or where.line > len(lines) or finding.hide:
        return None
    if found := MISSPELT.search(finding.message):
        return respelt(finding, text, found[1], found[2])
    rest = lines[where.line - 1][where.column - 1 :]
    if UNQUOTED.search(finding.message) and (word := WORD.match(rest)):
        return Edit(where.line, where.column, word[0], f'"{word[0]}"')
    if QUOTED.search(finding.message) and (number := NUMBER.match(rest)):
        return Edit(where.line, where.column, number[0], number[2])
    return None


def respelt(finding: Finding, text: str, old: str, new: str) -> Edit | None:
    """Return the edit that gives a field its right name, None where its key is not there word for word."""
    if (place := key_of(finding, text, old)) is None or place.line is None or place.column is None:
        return None
    rest = text.split("\n")[place.line - 1][place.column - 1 :]
    quote = rest[:1] if rest[:1] in {'"', "'"} else ""
    if not re.match(rf"{quote}{re.escape(old)}{quote}\s*:{'' if quote else END}", rest):
        return None
    return Edit(place.line, place.column + len(quote), old, new)


def key_of(finding: Finding, text: str, name: str) -> Location | None:
    """Return where the key of a field stands of which a finding says the key's place or its value's."""
    where, found = finding.location, dict[Location, set[str]]()
    for document in load(text.encode("utf-8", "surrogateescape"), file=where.file)[0]:
        if where.document not in {None, document.index}:
            continue
        for path in fields(document.value, name):
            key = document.location(path, key=True)
            spots = {(location.line, location.column) for location in (key, document.location(path))}
            if (where.line, where.column) in spots:
                found.setdefault(key, set()).add(format_path(path))
    if len(found) > 1 and finding.path:  # as of `a: {a: 1}`, where the value begins with the key of another
        longest = max((path for paths in found.values() for path in paths if same(path, finding.path)), default="")
        found = {key: paths for key, paths in found.items() if longest in paths}
    return next(iter(found)) if len(found) == 1 else None


def same(path: str, said: str) -> bool:
    """Say whether a field of a file is the one that is said, which may be of an object in a list."""
    return path == said or path.endswith(f"].{said}")


def fields(value: Any, name: str, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of the fields of that name, however deep."""
    if isinstance(value, dict):
        if name in value:
            yield (*path, name)
        for key, entry in value.items():
            yield from fields(entry, name, (*path, key))
    elif isinstance(value, list):
        for number, element in enumerate(value):
            yield from fields(element, name, (*path, number))


def apply_edit(text: str, file: str, one_edit: Edit) -> str:
    """Return the text with an edit, or as it was where the edit makes a file that cannot be read as well."""
    lines = text.split("\n")
    line, at = lines[one_edit.line - 1], one_edit.column - 1
    lines[one_edit.line - 1] = line[:at] + one_edit.new + line[at + len(one_edit.old) :]
    after = "\n".join(lines)
    return after if len(text_problems(after, file)) <= len(text_problems(text, file)) else text


def text_problems(text: str, file: str) -> list[Finding]:
    """Return the problems with a text before anybody looks at what it says."""
    return load(text.encode("utf-8", "surrogateescape"), file=file)[1]
