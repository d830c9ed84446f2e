"""Plain block YAML read line by line, many times as fast as by a parser of all of YAML.

Only lines of kinds that every reader of YAML takes alike are judged here: `key: value`, `- value`, `- key: value`,
comments, blanks. A value of several lines goes to libyaml as a text of its own, and anything else sends the whole
document to the slower readers: this one may refuse a document, but never read it differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import yaml
from yaml._yaml import CParser

from trainyard.base.documents.events import MAX_REMEMBERED, Memo, build
from trainyard.base.documents.nodes import MAX_DEPTH
from trainyard.base.documents.problem import Remarkable
from trainyard.base.documents.scalars import WORDS
from trainyard.base.limits import DOCUMENT_VALUES

PRINTABLE = re.compile("[\x20-\x7e\xa1-\u1fff\u3000-\ud7ff\U00010000-\U0010ffff]*")
KEY = "[A-Za-z0-9_/][A-Za-z0-9_./-]{0,400}"
HEAD = re.compile(rf"""( *)(- +)?(?:({KEY}|"[^"\\]{{0,400}}"|'[^']{{0,400}}'):(?: +|$))?""")
BEFORE_COLON = re.compile(rf"( *)(- +)?({KEY})")
QUOTED = re.compile(r"""(?:"([^"\\]*)"|'([^']*)')(?: +#.*| *)""")
PLAIN_START = re.compile(r"[A-Za-z0-9_/.$(+=~^<;\\]|-[^ ]")
WORDY = re.compile(r"(?:[A-Za-z_/$(=^<;\\]|--?[A-Za-z])(?:[!-9;-~]|:(?=[!-~])| (?=[!\"$-~]))*")
"""A plain text that is no number, whole and with nothing behind it; it may still be a word such as `yes`."""

SEPARATOR = re.compile(r"---(?: +#[\x20-\x7e]*| *)")
BREAKS = re.compile("[\x85\u2028\u2029\ufeff]")
"""Line breaks that only YAML knows, and the byte order mark."""

DONE, GOES_ON, NOTHING, FRESH, OPEN, TEXT = range(6)
"""What a line's value is: whole, whole unless deeper lines follow, not there, an empty collection, begun, no value."""

Line = tuple[int, int, bool, str | None, int, Any]
"""A line's column, the column of the content after a dash, whether there is a dash, key, state and value."""

SKIP: Final[Line] = (-2, 0, False, None, TEXT, None)


def take_apart(text: str, memo: Memo) -> Line:
    """Return the parts of a line; raises Remarkable for a line that this reader does not know."""
    before, colon, rest = text.partition(": ")
    if colon and (head := _head(before, memo)):
        if WORDY.fullmatch(rest):
            return *head, GOES_ON, WORDS.get(rest, rest)
        if PRINTABLE.fullmatch(rest):
            state, value = _value(rest.strip(" "), memo)
            if state != TEXT:
                return *head, state, value
        raise Remarkable
    return _any_line(text, memo)


def _head(before: str, memo: Memo) -> tuple[int, int, bool, str] | None:
    """Return indent and key of the text before a colon; None where it is more than a plain key."""
    head = memo.heads.get(before)
    if head is None and (match := BEFORE_COLON.fullmatch(before)):
        indent, dash, key = match.groups()
        head = len(indent), len(indent) + len(dash or ""), bool(dash), memo.key(key)
        if len(memo.heads) < MAX_REMEMBERED:
            memo.heads[before] = head
    return head


def _any_line(text: str, memo: Memo) -> Line:
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
        return column, inner, False, None, TEXT, None
    if state == TEXT or (state == NOTHING and key is None):
        raise Remarkable
    return column, inner, bool(dash), key, state, value


def _value(rest: str, memo: Memo) -> tuple[int, Any]:
    if not rest or rest[0] == "#":
        return NOTHING, None
    if WORDY.fullmatch(rest):
        return GOES_ON, WORDS.get(rest, rest)
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
    lines = text.removesuffix("\n").split("\n")
    if len(lines) > DOCUMENT_VALUES:  # of which some may be comments
        raise Remarkable
    return _Reader(lines, memo).read()


class _Reader:
    """The lines of one document, and what is remembered of others."""

    __slots__ = ("lines", "memo")

    def __init__(self, lines: list[str], memo: Memo) -> None:
        self.lines = lines
        self.memo = memo

    def read(self) -> Any:  # noqa: C901  # a loop over every line, with no call in most turns
        """Return the value of the document, whose root stands under an empty key.

        `box` is the innermost open collection, in `column`, `outer` those around it, and `waiting` the key whose
        value may follow on deeper lines.
        """
        memo, known, previous = self.memo, self.memo.lines, SKIP
        root: dict[str, Any] = {}
        box: Any = root
        column, listed, outer = -1, False, list[tuple[int, bool, Any]]()
        waiting: str | None = ""
        numbered = enumerate(self.lines)
        if SEPARATOR.fullmatch(self.lines[0]):
            next(numbered)
        for at, text in numbered:
            if (line := known.get(text)) is None:
                line = take_apart(text, memo)
                if len(known) < MAX_REMEMBERED:
                    known[text] = line
            here, inner, dash, key, state, value = line
            if here != column or dash is not listed:
                if line is SKIP:
                    continue
                if waiting is None:
                    if here > column:
                        leave_out(numbered, self.go_on(box, previous, column, at, len(outer)) - at)
                        continue
                elif here > column or (dash and here == column):
                    outer.append((column, listed, box))
                    box[waiting] = box = [] if dash else {}
                    column, listed = here, dash
                    if len(outer) > MAX_DEPTH:
                        raise Remarkable
                while here < column or (here == column and listed and not dash):
                    column, listed, box = outer.pop()
                if here != column or dash is not listed:
                    raise Remarkable
            if state >= FRESH:
                if state == FRESH:
                    value = value()
                elif state == OPEN:
                    value, end = self.several(value, here if key is None else inner, at + 1, len(outer))
                    leave_out(numbered, end - at)
                else:
                    raise Remarkable
            if dash:
                if key is None:
                    box.append(value)
                    waiting, previous = None, line
                    continue
                outer.append((column, listed, box))
                new: dict[str, Any] = {}
                box.append(new)
                column, listed, box = inner, False, new
                if len(outer) > MAX_DEPTH:
                    raise Remarkable
            elif key in box:
                raise Remarkable
            box[key] = value
            waiting = key if state == NOTHING else None
            previous = line
        return root.get("")

    def go_on(self, box: Any, previous: Line, column: int, at: int, depth: int) -> int:
        """Read again, as a text of several lines, the plain value that the line before seemed to complete.

        Returns the line behind it.
        """
        _, _, _, key, state, _ = previous
        if state != GOES_ON:
            raise Remarkable
        last = at - 1
        while (text := self.lines[last].lstrip(" ")) == "" or text[0] == "#":
            last -= 1
        head = HEAD.match(self.lines[last])
        assert head is not None
        value, end = self.several(self.lines[last][head.end() :], column, last + 1, depth)
        if end <= at:
            raise Remarkable
        box[-1 if key is None else key] = value
        return end

    def several(self, first: str, column: int, begin: int, depth: int) -> tuple[Any, int]:
        """Return a value that starts with `first` and takes in all deeper lines from `begin`, and the line behind."""
        end, deeper = begin, " " * (column + 1)
        while end < len(self.lines) and (self.lines[end].startswith(deeper) or not self.lines[end].strip(" ")):
            end += 1
        text = "\n".join([" " + first, *(line[column:] for line in self.lines[begin:end]), ""])
        if first[0] in "[{":
            return self.flow(text, depth), end
        known = self.memo.texts
        if text not in known:
            value = _scalar(text, self.memo)
            if len(known) >= MAX_REMEMBERED:
                return value, end
            known[text] = value
        return known[text], end

    def flow(self, text: str, depth: int) -> Any:
        value = build(text.encode(), self.memo, depth=depth)
        if not isinstance(value, (dict, list)):
            raise Remarkable
        return value


def leave_out(lines: Iterator[object], count: int) -> None:
    """Go on so many lines, the one at hand included."""
    next(islice(lines, count - 1, count - 1), None)


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
