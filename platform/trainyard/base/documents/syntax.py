"""What libyaml says of a text, in the user's words, and where go-yaml, which Kubernetes uses, says otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml
from yaml._yaml import CParser

from trainyard.base.documents.problem import Problem

UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no YAML text may hold, not even in quotes; escapes may still name it."""

ORDER_MARK = re.compile("(?<!\\A)^\ufeff", re.MULTILINE)
"""A byte order mark inside a text: go-yaml makes it part of a key."""

ESCAPE = re.compile(r"\\.", re.DOTALL)

CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
"""How Git begins what it could not merge."""

DIRECTIVE = re.compile(r"^%[^\n]*", re.MULTILINE)
"""A line by which YAML is told of itself."""

AT_DIRECTIVES = frozenset(
    {
        "did not find expected <document start>",
        "found incompatible YAML document",
        "found unknown directive name",
        "found duplicate %YAML directive",
    }
)
"""What libyaml says of a directive that stands alone, or that it does not know."""

COLON, DROPPED = "\U0010fffe", "\U0010ffff"
"""Stand-ins for characters that go-yaml accepts and libyaml does not: a plain ':' and the backslash of an escaped '."""

QUOTE = "a quote opens here and never closes; close it"
INDENT = "line is not aligned with the other keys of its map; correct its indentation"

BEGUN = frozenset(
    {
        "while scanning a simple key",
        "while scanning a quoted scalar",
        "while parsing a flow sequence",
        "while parsing a flow mapping",
    }
)
"""What libyaml was at when it failed, where the slip is where that began."""

WORDS = {
    "mapping values are not allowed in this context": "': ' inside a value starts another value; quote the whole value",
    "did not find expected key": INDENT,
    "did not find expected '-' indicator": "line is not aligned with the items of its list; correct its indentation",
    "could not find expected ':'": "a key has no ':' after it; write 'key: value'",
    "found unexpected end of stream": QUOTE,
    "did not find expected ',' or ']'": "a list in [] lacks a comma or its ']'; add it",
    "did not find expected ',' or '}'": "a map in {} lacks a comma or its '}'; add it",
    "did not find expected node content": "a value is missing or a bracket is not closed; complete it",
    "did not find expected <document start>": "text follows the document's end; align it, or write '---' before it",
    "block sequence entries are not allowed in this context": "'- ' inside a value starts a list; give it its own line",
    "found undefined tag handle": "a tag's prefix is not declared; remove the tag",
    "found unexpected document indicator": "a quote is still open at '---' or '...'; close it",
}
"""libyaml's problems as one sentence each, with what to do."""


def unprintable(text: str, first_line: int) -> Problem | None:
    """Return the first character that YAML does not allow, or a byte order mark that is not at the start."""
    bad = UNPRINTABLE.search(text)
    if bad:
        message = f"control character U+{ord(bad.group()):04X} is not allowed in YAML; remove it or escape it in quotes"
        return _at(text, bad.start(), first_line, "decode/control-character", message)
    mark = ORDER_MARK.search(text)
    if mark:
        message = "a byte order mark is inside the text; remove it"
        return _at(text, mark.start(), first_line, "decode/byte-order-mark", message)
    return None


def _at(text: str, index: int, first_line: int, rule: str, message: str) -> Problem:
    line = text.count("\n", 0, index)
    return Problem(rule, message, line + first_line, index - text.rfind("\n", 0, index))


def problem_of(error: yaml.MarkedYAMLError, text: str, first_line: int) -> Problem:
    """Turn libyaml's error into one sentence at the place of the slip, which may lie before where libyaml notices."""
    if conflict := CONFLICT.search(text):
        message = "the file contains markers of a merge conflict; resolve it and remove them"
        return _at(text, conflict.start(), first_line, "decode/conflict", message)
    said = str(error.problem or "unreadable text")
    if said in AT_DIRECTIVES and (directive := DIRECTIVE.search(text)):
        message = "kubectl reads a line that begins with '%' as a separate document; remove it"
        return _at(text, directive.start(), first_line, "decode/directive", message)
    line, column = place(error)
    lines = text.split("\n")
    where = lines[line] if line < len(lines) else ""
    rule, message = "decode/syntax", WORDS.get(said, f"not YAML: {said}; correct the syntax here")
    if "tab character" in said or where[: column + 1].lstrip(" ").startswith("\t"):
        rule, message = "decode/tab", "line is indented with a tab; use spaces"
    elif said == "found character that cannot start any token":
        message = f"a plain value cannot start with {where[column : column + 1]!r}; quote the value"
    elif said == "found unknown escape character":
        message = f"'{where[column : column + 2]}' is not an escape in double quotes; double the backslash"
    elif error.context in BEGUN and error.context_mark is not None:
        line, column = error.context_mark.line, error.context_mark.column
    elif (scalar := running_on(text, line)) is not None:
        if scalar.style in {"'", '"'}:
            line, column, message = *scalar.begun, QUOTE
        elif said.startswith("mapping values") and where.strip():
            column, message = len(where) - len(where.lstrip()), INDENT
    return Problem(rule, message, line + first_line, column + 1)


@dataclass(frozen=True, slots=True)
class Running:
    """A scalar of several lines: how it is quoted, and where it begins, from 0."""

    style: str
    begun: tuple[int, int]


def running_on(text: str, line: int) -> Running | None:
    """Return the scalar of several lines that ends on the line where libyaml fails, just before it does."""
    last: yaml.Event | None = None
    parser = CParser(text)
    try:
        while (event := parser.get_event()) is not None:
            last = event
    except yaml.MarkedYAMLError:
        pass
    if not isinstance(last, yaml.ScalarEvent) or last.start_mark is None or last.end_mark is None:
        return None
    runs = last.start_mark.line < last.end_mark.line == line
    return Running(last.style or "", (last.start_mark.line, last.start_mark.column)) if runs else None


def place(error: yaml.MarkedYAMLError) -> tuple[int, int]:
    """Return the line and column of an error, from 0."""
    mark = error.problem_mark or error.context_mark
    return (mark.line, mark.column) if mark else (0, 0)


def accept_syntax(error: yaml.MarkedYAMLError, text: str) -> str | None:
    """Return the text with a stand-in where go-yaml would have gone on, or None where it fails too."""
    index: int = getattr(error.problem_mark, "index", 0)
    if error.problem == "found unexpected ':'" and text[index : index + 1] == ":":
        return text[:index] + COLON + text[index + 1 :]
    if error.problem == "found unknown escape character" and text[index : index + 2] == "\\'":
        return text[:index] + DROPPED + text[index + 1 :]
    return None


def refuse_scalar(source: str, style: str | None, *, in_flow: bool) -> str | None:
    """Return why go-yaml refuses a scalar that libyaml accepts, given as it is written; None where it does not."""
    if style == '"':
        if any(escape.group() == "\\/" for escape in ESCAPE.finditer(source)):
            return r"'\/' is not an escape in double quotes for Kubernetes; write '/'"
    elif not style and in_flow and "?" in source:
        return "Kubernetes refuses '?' in unquoted text inside [] or {}; quote the text"
    return None
