"""A stream of any length in pieces of whole documents, so that no more than one document has to be held.

A piece ends where a document does: at a line that starts with `---`, or between two JSON values, each of which starts
on a line of its own. A List in JSON or YAML that is longer than a document may be is taken apart into its items, as
`kubectl get --output json` and `--output yaml` print it.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from itertools import count
from typing import NamedTuple

from trainyard.base.documents.problem import Problem
from trainyard.base.limits import DOCUMENT_BYTES

BLOCK = 2**18
"""Bytes that are read at once."""

SEPARATOR = re.compile(rb"^---[^\n]*\n", re.MULTILINE)
BETWEEN = re.compile(rb"^---[^\n]*\n|\}[ \t\r]*\n(?=\{)", re.MULTILINE)
"""Where a JSON value ends: no text of JSON has a line end in it, so that no value has `{` behind one inside `}`."""

SPACE = re.compile(rb"\s*")
FIELD = rb'"(?:apiVersion|kind)"\s*:\s*"(?:v1|List)"|"metadata"\s*:\s*\{[^{}]*\}'
JSON_LIST = re.compile(rb"\s*\{\s*(?:(?:%s)\s*,\s*)*\"items\"\s*:\s*\[" % FIELD)
YAML_LIST = re.compile(rb"(?:(?:apiVersion: v1|kind: List|metadata:[^\n]*|  [^\n]*)\r?\n)*items:\r?\n(?=- )")
ITEM = re.compile(rb"\n(?=[^ \n#])")
"""Where an item of a list in YAML ends: at the next dash, or at the field behind the list."""

LATE = 16
"""Letters before the end within which a fault may be that the rest is not there yet: a number or a word of JSON."""

ENDLESS = -1
"""Where the fault is in an item that is too large to be read to its end."""

LINE, SHORT = 4096, 64
"""Bytes of a line that are kept when a document is left out: one that separates, and the end of a value."""

EMPTY, BLANK, ODD = '{"items":[', re.compile(r"[ \t\r\n,]*"), "surrogateescape"
JSON = json.JSONDecoder()

Read = Callable[[int], bytes]
"""Returns the next bytes, at most so many, and none at the end."""


Items = Callable[[bytes, int, int, Read], Generator["Piece", None, tuple[int, bytes]]]
"""Reads the items of a List from a place of what is held on, which starts on a line; returns what is behind it."""


class Piece(NamedTuple):
    """Whole documents, or the head of one that is too large, with the line on which they start."""

    data: bytes
    line: int
    too_large: bool = False
    problem: Problem | None = None
    """What is wrong with an item of a List, in place of what its bytes alone would tell."""


def pieces(read: Read, line: int = 1, *, most: int = DOCUMENT_BYTES) -> Iterator[Piece]:
    """Yield a stream in pieces of whole documents; of a document that is too large, which is no List, its head.

    The stream starts on a line of its file. A List of more than `most` bytes is taken apart.
    """
    held, seen = b"", 0
    while block := read(BLOCK):
        held += block
        end = last_end(held, max(0, seen - LINE))
        if end:
            yield Piece(held[:end], line)
            line, held = line + held.count(b"\n", 0, end), held[end:]
        if len(held) > most and (found := list_in(held)):
            items, start = found
            line, held = yield from items(held, start, line, read)
        elif len(held) > DOCUMENT_BYTES:
            yield Piece(held, line, too_large=True)
            line, held = skip(held, line, read)
        seen = len(held)
    if held:
        yield Piece(held, line)


def last_end(held: bytes, seen: int = 0) -> int:
    """Return where the last whole document ends, 0 where none does; none ends in what was seen before."""
    at = 0
    while (found := end_of(held).search(held, at or seen)) is not None:
        at = found.end()
        if (end_of(held, at) is BETWEEN) != (end_of(held) is BETWEEN):
            break
    return at


def end_of(held: bytes, at: int = 0) -> re.Pattern[bytes]:
    """Return how the document ends that starts at a place: in JSON also before the next value."""
    start = SPACE.match(held, at)
    return BETWEEN if start is not None and held[start.end() : start.end() + 1] == b"{" else SEPARATOR


def list_in(held: bytes) -> tuple[Items, int] | None:
    """Return how the items of a List are read, and where the first begins; None where a document is no List."""
    for head, items in ((JSON_LIST, json_items), (YAML_LIST, yaml_items)):
        if found := head.match(held):
            return items, found.end()
    return None


def skip(held: bytes, line: int, read: Read) -> tuple[int, bytes]:
    """Return the line and the bytes behind the document that is at hand."""
    pattern = end_of(held)
    while (found := pattern.search(held, 1)) is None:
        block = read(BLOCK)
        if not block:
            return line, b""
        kept = max(len(held) - LINE, min(held.rfind(b"\n"), len(held) - SHORT), 0)
        line, held = line + held.count(b"\n", 0, kept), held[kept:] + block
    return line + held.count(b"\n", 0, found.end()), held[found.end() :]


def yaml_items(held: bytes, at: int, line: int, read: Read) -> Generator[Piece, None, tuple[int, bytes]]:
    """Yield the items of a List in YAML one by one, then the List without them; returns what is behind it.

    An item is a document with spaces for its dash, so that its fields keep their columns.
    """
    head, start = held[:at].rstrip(), line
    line += held.count(b"\n", 0, at)
    while held.startswith(b"- ", at):
        while (found := ITEM.search(held, at)) is None and len(held) - at <= DOCUMENT_BYTES and (block := read(BLOCK)):
            held, at = held[at:] + block, 0
        end = found.end() if found else len(held)
        yield Piece(b"  " + held[at + 2 : end], line, too_large=end - at > DOCUMENT_BYTES)
        line, at = line + held.count(b"\n", at, end), end
    while (found := SEPARATOR.search(held, at)) is None and (block := read(BLOCK)):
        held, at = held[at:] + block, 0
    end = found.start() if found else len(held)
    yield Piece(head + b" []\n" + held[at:end], start)
    return line + held.count(b"\n", at, end), held[end:]


def json_items(held: bytes, at: int, line: int, read: Read) -> Generator[Piece, None, tuple[int, bytes]]:
    """Yield the items of a List in JSON one by one, then the List without them; returns what is behind it."""
    letters, start = Letters(held, read), line
    head = letters.take(len(held[:at].decode("utf-8", ODD)))
    line, column = moved(line, 0, head)
    for number in count():
        line, column = moved(line, column, letters.blank())
        if letters.ends():
            tail = letters.tail()
            yield Piece((head.replace("\n", " ") + tail).encode("utf-8", ODD), start)
            return line + tail.count("\n"), letters.left()
        text, fault = letters.value()
        data = (" " * (column if column < LINE else 0) + text).encode("utf-8", ODD)
        large = len(data) > DOCUMENT_BYTES and fault in {None, ENDLESS}
        problem = None if large else wrong_item(number, text, fault, line, column)
        yield Piece(data, line, large, problem)
        line, column = moved(line, column, text)
        if fault is not None:
            return skip(b"{" + letters.left(), line, read)
    raise AssertionError("a List ends")


def wrong_item(number: int, text: str, fault: int | None, line: int, column: int) -> Problem | None:
    """Return the problem of an item that is no object, at its first letter, or at the one that is at fault."""
    line, column = moved(line, column, text[: fault or 0])
    if fault is not None:
        message = f"item {number} of the List is not valid JSON; correct it, since no item behind it is read"
        return Problem("decode/syntax", message, line, column + 1)
    if text.startswith("{"):
        return None
    words = {"[": "a list", '"': "text", "n": "null", "t": "true or false", "f": "true or false"}
    message = f"item {number} is {words.get(text[0], 'a number')}; write an object with apiVersion and kind"
    return Problem("decode/not-an-object", message, line, column + 1, ("items", number))


def moved(line: int, column: int, text: str) -> tuple[int, int]:
    """Return line and column behind a text."""
    count = text.count("\n")
    return line + count, len(text) - text.rfind("\n") - 1 if count else column + len(text)


class Letters:
    """The letters of a stream of JSON, of which as many are held as the next value has."""

    def __init__(self, held: bytes, read: Read) -> None:
        self.decoder = codecs.getincrementaldecoder("utf-8")(ODD)
        self.text, self.at, self.read = self.decoder.decode(held), 0, read

    def more(self) -> bool:
        """Read on, and return whether there was anything."""
        block = self.read(BLOCK)
        self.text = self.text[self.at :] + self.decoder.decode(block, final=not block)
        self.at = 0
        return bool(block)

    def take(self, end: int) -> str:
        """Return the letters up to a place, and go on behind it."""
        text, self.at = self.text[self.at : end], end
        return text

    def blank(self) -> str:
        """Return the spaces and commas between two values."""
        found = ""
        while True:
            between = BLANK.match(self.text, self.at)
            found += self.take(between.end() if between else self.at)
            if self.at < len(self.text) or not self.more():
                return found

    def ends(self) -> bool:
        """Say whether the list ends here."""
        return self.text.startswith("]", self.at)

    def value(self) -> tuple[str, int | None]:
        """Return the next value; of one that is not whole all that was read, with the place of the letter at fault."""
        while True:
            try:
                return self.take(JSON.raw_decode(self.text, self.at)[1]), None
            except (ValueError, RecursionError) as error:
                size = len(self.text)
                if size - self.at > DOCUMENT_BYTES or not is_cut(error, size) or not self.more():
                    fault = error.pos - self.at if isinstance(error, json.JSONDecodeError) else 0
                    if size - self.at > DOCUMENT_BYTES and is_cut(error, size):
                        fault = ENDLESS
                    return self.take(size), fault

    def tail(self) -> str:
        """Return the fields behind the list with the end of their object."""
        while True:
            with suppress(ValueError, RecursionError):
                _, end = JSON.raw_decode(EMPTY + self.text[self.at :])
                return self.take(self.at + end - len(EMPTY))
            if len(self.text) - self.at > DOCUMENT_BYTES or not self.more():
                return self.take(len(self.text))

    def left(self) -> bytes:
        """Return the bytes that were read and not taken."""
        return self.text[self.at :].encode("utf-8", ODD) + self.decoder.getstate()[0]


def is_cut(error: Exception, size: int) -> bool:
    """Say whether a text may be no JSON since its end is not there yet."""
    if not isinstance(error, json.JSONDecodeError):
        return True
    return error.pos >= size - LATE or error.msg.startswith("Unterminated string")  # which is told at its beginning
