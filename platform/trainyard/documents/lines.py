"""Plain block YAML read line by line, several times as fast as by a parser of all of YAML.

Only lines of kinds that every reader of YAML takes alike are judged here: `key: value`, `- value`, `- key: value`,
comments, blanks. A value of several lines goes to libyaml as a text of its own, and anything else sends the whole
document to the slower readers: this one may refuse a document, but never read it differently.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import yaml
from yaml._yaml import CParser

from trainyard.documents.events import MAX_REMEMBERED, Memo, build
from trainyard.documents.nodes import MAX_DEPTH
from trainyard.documents.problem import Remarkable

PRINTABLE = re.compile("[\x20-\x7e\xa1-\u1fff\u3000-\ud7ff\U00010000-\U0010ffff]*")
HEAD = re.compile(r"""( *)(- +)?(?:([A-Za-z0-9_/][A-Za-z0-9_./-]{0,400}|"[^"\\]{0,400}"|'[^']{0,400}'):(?: +|$))?""")
QUOTED = re.compile(r"""(?:"([^"\\]*)"|'([^']*)')(?: +#.*| *)""")
PLAIN_START = re.compile(r"[A-Za-z0-9_/.$(+=~^<;\\]|-[^ ]")
SEPARATOR = re.compile(r"---(?: +#[\x20-\x7e]*| *)")
BREAKS = re.compile("[\x85\u2028\u2029\ufeff]")
"""Line breaks that only YAML knows, and the byte order mark."""

NOTHING, DONE, GOES_ON, FRESH, OPEN, TEXT = range(6)
"""What a line's value is: not there, whole, whole unless deeper lines follow, an empty collection, begun, no value."""


class Line(NamedTuple):
    """One line taken apart; `inner` is the column of the content after a dash."""

    column: int
    inner: int
    dash: bool
    key: str | None
    state: int
    value: Any


SKIP: Final = Line(0, 0, False, None, TEXT, None)


def take_apart(text: str, memo: Memo) -> Line:
    """Return the parts of a line; raises Remarkable for a line that this reader does not know."""
    if not PRINTABLE.fullmatch(text):
        raise Remarkable
    head = HEAD.match(text)
    assert head is not None
    indent, dash, key = head.groups()
    rest = text[head.end() :].rstrip(" ")
    if key is None and not dash and (not rest or rest[0] == "#"):
        return SKIP
    column, inner = len(indent), len(indent) + len(dash or "")
    if key is not None:
        key = key[1:-1] if key[0] in "\"'" else memo.key(key)
    state, value = _value(rest, memo)
    if key is None and not dash:
        return Line(column, inner, False, None, TEXT, None)
    if state == TEXT or (state == NOTHING and key is None):
        raise Remarkable
    return Line(column, inner, bool(dash), key, state, value)


def _value(rest: str, memo: Memo) -> tuple[int, Any]:
    if not rest or rest[0] == "#":
        return NOTHING, None
    if rest in ("{}", "[]"):
        return FRESH, dict if rest == "{}" else list
    if match := QUOTED.fullmatch(rest):
        return DONE, match[1] if match[2] is None else match[2]
    if rest[0] in "|>\"'[{":
        return OPEN, rest
    plain, hash_, _ = rest.partition(" #")
    plain = plain.rstrip(" ")
    if PLAIN_START.match(plain) and ": " not in plain and plain[-1] != ":":
        return DONE if hash_ else GOES_ON, memo.value(plain)
    return TEXT, None


def read(text: str, memo: Memo) -> Any:
    """Return the value of the document; raises Remarkable or yaml.YAMLError where a slower reader must judge."""
    if "\r" in text:
        raise Remarkable
    return _Reader(text.removesuffix("\n").split("\n"), memo).read()


class _Reader:
    """Where the reading stands: the innermost open collection with its column, and those around it."""

    __slots__ = ("at", "box", "column", "lines", "memo", "outer", "waiting")

    def __init__(self, lines: list[str], memo: Memo) -> None:
        self.lines = lines
        self.memo = memo
        self.at = 1 if SEPARATOR.fullmatch(lines[0]) else 0
        self.column = -1
        self.box: Any = {}
        self.outer: list[tuple[int, Any]] = []
        self.waiting: str | None = ""  # the key whose value may follow on deeper lines

    def read(self) -> Any:
        root, known, previous = self.box, self.memo.lines, SKIP
        while self.at < len(self.lines):
            text = self.lines[self.at]
            self.at += 1
            line: Line | None = known.get(text)
            if line is None:
                line = take_apart(text, self.memo)
                if len(known) < MAX_REMEMBERED:
                    known[text] = line
            if line is SKIP:
                continue
            column, _, dash, key, _, _ = line
            if column != self.column or dash != (self.box.__class__ is list):
                if column > self.column and self.waiting is None:
                    self.go_on(previous)
                    continue
                self.move(column, dash)
            if key is None and not dash:
                raise Remarkable
            self.put(line)
            previous = line
        return root.get("")

    def put(self, line: Line) -> None:
        """Store the line's value in the innermost collection, which for `- key: value` is a new map."""
        column, inner, dash, key, state, value = line
        if state == FRESH:
            value = value()
        elif state == OPEN:
            value = self.several(value, column if key is None else inner, self.at)
        if key is None:
            self.box.append(value)
            self.waiting = None
            return
        if dash:
            self.nest(inner, {})
        if key in self.box:
            raise Remarkable
        self.box[key] = value
        self.waiting = key if state == NOTHING else None

    def move(self, column: int, dash: bool) -> None:
        """Open the collection that a line starts, or go back to the one that it continues."""
        opens = column > self.column or (dash and column == self.column)
        if opens and self.waiting is not None:
            new: Any = [] if dash else {}
            self.box[self.waiting] = new
            self.outer.append((self.column, self.box))
            self.column, self.box = column, new
            if len(self.outer) > MAX_DEPTH:
                raise Remarkable
            return
        while column < self.column or (column == self.column and not dash and self.box.__class__ is list):
            self.column, self.box = self.outer.pop()
        if column != self.column or dash != (self.box.__class__ is list):
            raise Remarkable

    def nest(self, column: int, new: Any) -> None:
        self.box.append(new)
        self.outer.append((self.column, self.box))
        self.column, self.box = column, new
        if len(self.outer) > MAX_DEPTH:
            raise Remarkable

    def go_on(self, previous: Line) -> None:
        """Read again, as a text of several lines, the plain value that the line before seemed to complete."""
        if previous.state != GOES_ON:
            raise Remarkable
        here, last = self.at, self.at - 2
        while (text := self.lines[last].lstrip(" ")) == "" or text[0] == "#":
            last -= 1
        head = HEAD.match(self.lines[last])
        assert head is not None
        value = self.several(self.lines[last][head.end() :], self.column, last + 1)
        if self.at < here:
            raise Remarkable
        self.box[-1 if previous.key is None else previous.key] = value

    def several(self, first: str, column: int, begin: int) -> Any:
        """Return a value that starts with `first` and takes in all deeper lines from `begin`."""
        end, deeper = begin, " " * (column + 1)
        while end < len(self.lines) and (self.lines[end].startswith(deeper) or not self.lines[end].strip(" ")):
            end += 1
        self.at = end
        text = "\n".join([" " + first, *(line[column:] for line in self.lines[begin:end]), ""])
        if first[0] in "[{":
            return self.flow(text)
        known = self.memo.texts
        if text not in known:
            value = _scalar(text, self.memo)
            if len(known) >= MAX_REMEMBERED:
                return value
            known[text] = value
        return known[text]

    def flow(self, text: str) -> Any:
        value = build(text.encode(), self.memo, depth=len(self.outer))
        if not isinstance(value, (dict, list)):
            raise Remarkable
        return value


def _scalar(text: str, memo: Memo) -> Any:
    """Return the value of the one scalar in the text."""
    if BREAKS.search(text) or (text[1] == '"' and "\\/" in text):
        raise Remarkable
    get = CParser(text).get_event
    get(), get()
    event = get()
    get()
    if event.__class__ is not yaml.ScalarEvent or get().__class__ is not yaml.StreamEndEvent:
        raise Remarkable
    return memo.value(event.value) if event.implicit[0] else event.value
