"""The value of an unremarkable text, built straight from libyaml's events without keeping places."""

from __future__ import annotations

import math
import re
from typing import Any, Final

import yaml
from yaml._yaml import CParser

from trainyard.base.documents.nodes import MAX_DEPTH
from trainyard.base.documents.problem import Remarkable, TooMany
from trainyard.base.documents.scalars import as_json, as_key, resolve
from trainyard.base.limits import DOCUMENT_VALUES

REMARKABLE = re.compile(
    rb"(?:^|[\s\[\]{},:])(?:[&*][0-9A-Za-z_-]|!|<<)|\?|\\/|\xc2\x85|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf"
)
"""May hold an anchor, alias, tag or merge key, or characters that libyaml and go-yaml take differently."""

SIGNS = (b"&", b"*", b"!", b"<<", b"?", b"\\/", b"\xc2\x85", b"\xe2\x80", b"\xef\xbb\xbf")
"""What any such text holds, which is found much faster."""

MAX_REMEMBERED = 20_000
MISSING: Final = object()


class Memo:
    """What texts mean, remembered over the documents of a file: most recur hundreds of times."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.keys: dict[str, str] = {}
        self.texts: dict[str, Any] = {}
        self.lines: dict[str, Any] = {}
        self.heads: dict[str, tuple[int, int, bool, str]] = {}

    def value(self, text: str) -> Any:
        """Return the value of a plain scalar; raises Remarkable for `.inf` and `.nan`."""
        value = self.values.get(text, MISSING)
        if value is MISSING:
            value = as_json(resolve(text))
            if isinstance(value, float) and not math.isfinite(value):
                raise Remarkable
            if len(self.values) < MAX_REMEMBERED:
                self.values[text] = value
        return value

    def key(self, text: str) -> str:
        """Return the key of a plain scalar; raises Remarkable for null and for merges."""
        key = self.keys.get(text)
        if key is None:
            key = as_key(resolve(text))
            if key is None or text == "<<":
                raise Remarkable
            if len(self.keys) < MAX_REMEMBERED:
                self.keys[text] = key
        return key


def build(text: bytes, memo: Memo, *, depth: int = 0) -> Any:
    """Return the value of the one document in the text, None where it holds none, that stands at some depth.

    Raises Remarkable where a finding may be due, or yaml.YAMLError where libyaml cannot read the text.
    """
    if any(sign in text for sign in SIGNS) and REMARKABLE.search(text):
        raise Remarkable
    get = CParser(text).get_event
    get()
    if get().__class__ is yaml.StreamEndEvent:
        return None
    value = _Builder(get, memo).value(get(), depth)
    get()
    if get().__class__ is not yaml.StreamEndEvent:
        raise Remarkable
    return value


class _Builder:
    """Builds a value by asking for one event after another."""

    __slots__ = ("get", "key", "left", "scalar")

    def __init__(self, get: Any, memo: Memo) -> None:
        self.get = get
        self.left = DOCUMENT_VALUES
        self.key = memo.key
        self.scalar = memo.value

    def value(self, event: Any, depth: int) -> Any:
        kind = event.__class__
        if kind is yaml.ScalarEvent:
            return self.scalar(event.value) if event.implicit[0] else event.value
        if depth >= MAX_DEPTH:
            raise Remarkable
        if kind is yaml.MappingStartEvent:
            return self.mapping(depth + 1)
        if kind is yaml.SequenceStartEvent:
            return self.sequence(depth + 1)
        raise Remarkable

    def mapping(self, depth: int) -> dict[str, Any]:
        out: dict[str, Any] = {}
        while (event := self.get()).__class__ is yaml.ScalarEvent:
            key = self.key(event.value) if event.implicit[0] else event.value
            if key in out:
                raise Remarkable
            out[key] = self.value(self.get(), depth)
        self.take(len(out))
        if event.__class__ is not yaml.MappingEndEvent:
            raise Remarkable
        return out

    def sequence(self, depth: int) -> list[Any]:
        out: list[Any] = []
        while (event := self.get()).__class__ is not yaml.SequenceEndEvent:
            out.append(self.value(event, depth))
            if len(out) > self.left:
                break
        self.take(len(out))
        return out

    def take(self, count: int) -> None:
        """Count values; raises TooMany."""
        self.left -= count
        if self.left < 0:
            raise TooMany
