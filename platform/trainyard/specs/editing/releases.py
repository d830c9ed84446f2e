"""Write another release of an operator into a cluster's file, and leave the rest of the text as it is."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Path
from trainyard.specs.editing.items import ITEM, at, by_hand, keep_edit, place

CLOSES = {"{": "}", "[": "]"}


def set_release(text: str, file: str, path: Path, release: str) -> str:
    """Return the text with a release at a place, in quotes; raises SpecError where only a person can write it."""
    line, column = place(text, file, path)
    lines = text.splitlines(keepends=True)
    found = ITEM.match(lines[line], column)
    if found is None:
        raise by_hand(file, path, release)
    lines[line] = f'{lines[line][:column]}"{release}"{lines[line][found.end() :]}'
    return keep_edit("".join(lines), text, file, path, release)


def drop_map(text: str, file: str, path: Path, name: str) -> str:
    """Return the text without a field that is a map; raises SpecError where only a person can take it away."""
    outer = at(text, file, path)
    rest = {key: value for key, value in outer.items() if key != name}
    for changed in texts_without(text, file, (*path, name), name):
        return keep_edit(changed, text, file, path, rest)
    raise by_hand(file, path, rest)


def texts_without(text: str, file: str, path: Path, name: str) -> Iterator[str]:
    """Yield the text without the map at a path, where it is within braces on one line or in lines of its own."""
    line, column = place(text, file, path)
    lines = text.splitlines(keepends=True)
    row = lines[line]
    if row[column : column + 1] in CLOSES:
        start, end = row.rfind(name, 0, column), closing(row, column)
        if start < 0 or end is None:
            return
        before, after = row[:start].rstrip(), row[end:]
        if before.endswith(","):
            lines[line] = before[:-1] + after
        elif before.endswith("{"):
            lines[line] = before + after.lstrip(", ")
        else:
            del lines[line]
        yield "".join(lines)
        return
    first = line - 1
    indent = len(lines[first]) - len(lines[first].lstrip())
    last = line
    while last < len(lines) and (not lines[last].strip() or len(lines[last]) - len(lines[last].lstrip()) > indent):
        last += 1
    if lines[first].strip().startswith(f"{name}:"):
        yield "".join([*lines[:first], *lines[last:]])


def closing(row: str, column: int) -> int | None:
    """Return the column behind the bracket that closes the one at a column, None where it is not on this line."""
    opened, quote = [CLOSES[row[column]]], ""
    for index in range(column + 1, len(row)):
        letter = row[index]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in CLOSES:
            opened.append(CLOSES[letter])
        elif letter == opened[-1]:
            opened.pop()
            if not opened:
                return index + 1
    return None
