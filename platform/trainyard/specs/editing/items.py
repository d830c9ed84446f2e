"""Add an item to a list of a file, or change one, and leave the rest of the text, comments and all, as it is."""

from __future__ import annotations

import copy
import re
from typing import Any

from trainyard.base.documents import load
from trainyard.base.documents.emit import dump
from trainyard.base.errors import SpecError
from trainyard.base.findings import Path, format_path

ITEM = re.compile(r"""[-./\w]+|"[^"\\]*"|'[^']*'""")
"""A scalar of one line, plain or in quotes."""


def add_item(text: str, file: str, path: Path, item: str) -> str:
    """Return the text with one more item at the end of a list of plain words.

    Raises SpecError where the list is written in a way that only a person can edit.
    """
    value = at(text, file, path)
    if not isinstance(value, list) or not value:
        raise by_hand(file, path, item)
    line, column = place(text, file, (*path, len(value) - 1))
    lines = text.splitlines(keepends=True)
    row = lines[line]
    found = ITEM.match(row, column)
    if found is None:
        raise by_hand(file, path, item)
    if row[:column].strip() == "-":
        end = "\r\n" if row.endswith("\r\n") else "\n"
        lines[line] = row if row.endswith("\n") else row + end
        lines.insert(line + 1, f"{row[:column]}{item}{end}")
    else:
        lines[line] = f"{row[: found.end()]}, {item}{row[found.end() :]}"
    return keep_edit("".join(lines), text, file, path, [*value, item])


def set_item(text: str, file: str, path: Path, item: str) -> str:
    """Return the text with another word at a place; raises SpecError where only a person can write it."""
    line, column = place(text, file, path)
    lines = text.splitlines(keepends=True)
    found = ITEM.match(lines[line], column)
    if found is None:
        raise by_hand(file, path, item)
    lines[line] = lines[line][:column] + item + lines[line][found.end() :]
    return keep_edit("".join(lines), text, file, path, item)


def add_field(text: str, file: str, path: Path, name: str, value: str) -> str:
    """Return the text with one more field: the first of a map, or the last of the file.

    Raises SpecError where the map is written in a way that only a person can edit.
    """
    inner = at(text, file, path)
    entry = f"{name}: {dump(value).strip()}"
    lines = text.splitlines(keepends=True)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    if not isinstance(inner, dict) or not inner or name in inner:
        raise by_hand(file, (*path, name), value)
    if not path:
        lines[-1] += "" if lines[-1].endswith("\n") else end
        return keep_edit("".join([*lines, entry + end]), text, file, (*path, name), value)
    line, column = place(text, file, path)
    if lines[line][column : column + 1] == "{":
        lines[line] = f"{lines[line][: column + 1]}{entry}, {lines[line][column + 1 :]}"
    elif not lines[line][:column].strip():
        lines.insert(line, f"{lines[line][:column]}{entry}{end}")
    else:
        raise by_hand(file, (*path, name), value)
    return keep_edit("".join(lines), text, file, (*path, name), value)


def drop_field(text: str, file: str, path: Path, name: str) -> str:
    """Return the text without a field that is one word; raises SpecError where only a person can take it away."""
    inner = at(text, file, path)
    line, column = place(text, file, (*path, name))
    lines = text.splitlines(keepends=True)
    row, found = lines[line], ITEM.match(lines[line], column)
    key = row[:column].rpartition(name)[0]
    if found is None or not isinstance(inner, dict):
        raise by_hand(file, path, {key_: inner[key_] for key_ in inner if key_ != name})
    if key.strip():
        rest = row[found.end() :]
        lines[line] = key + rest.removeprefix(",").lstrip() if rest.startswith(",") else key.rstrip(" ,") + rest
    else:
        del lines[line]
    return keep_edit("".join(lines), text, file, path, {key_: inner[key_] for key_ in inner if key_ != name})


def keep_edit(after: str, before: str, file: str, path: Path, value: Any) -> str:
    """Return the new text, if what it says differs from the old one at that place alone; raises SpecError."""
    whole = {0: copy.deepcopy(read(before, file))}
    inner: Any = whole
    for key in (0, *path[:-1]):
        inner = inner[key]
    if path:
        inner[path[-1]] = value
    else:
        whole[0] = value
    documents, findings = load(after.encode(), file=file)
    if findings or [document.value for document in documents] != [whole[0]]:
        raise by_hand(file, path, value)
    return after


def read(text: str, file: str) -> Any:
    """Return the value in a file; raises SpecError where it cannot be read."""
    documents, findings = load(text.encode(), file=file)
    if findings or len(documents) != 1:
        raise SpecError(f"{file} cannot be edited: {findings[0].message if findings else 'it must be one document'}")
    return documents[0].value


def at(text: str, file: str, path: Path) -> Any:
    """Return the value at a place of a file."""
    value = read(text, file)
    for key in path:
        value = value[key]
    return value


def place(text: str, file: str, path: Path) -> tuple[int, int]:
    """Return line and column of a value, both counted from zero."""
    location = load(text.encode(), file=file)[0][0].location(path)
    return (location.line or 1) - 1, (location.column or 1) - 1


def by_hand(file: str, path: Path, value: Any) -> SpecError:
    """Return the error that a person has to write something."""
    words = dump(value).strip().replace("\n", ", ")
    return SpecError(f"{file} cannot be edited automatically; write {words} at {format_path(path)}")
