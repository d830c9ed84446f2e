"""Comments in YAML, and among them those that ignore a rule: text behind a `#` that is no part of a value."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from trainyard.base.documents.positions import BOM
from trainyard.base.documents.stream import recode_utf8, split, whole_file_problem
from trainyard.base.rules import Rule

WORD = "ignore"
SEEN = re.compile(rb"#[ \t]*trainyard(?::|[ \t]+ignore\b)")
"""What a file must contain for a look at its comments."""

COMMENT = re.compile(
    r"(?:(?<=\s)|^)#[ \t]*trainyard(?:(?P<colon>:)[ \t]*|[ \t]+(?=ignore\b))(?P<word>[A-Za-z-]+)(?P<rest>[^\n]*)",
    re.MULTILINE,
)
"""A comment to us; one that ignores a rule is known without its colon, too."""

IGNORE = Rule(
    id="spec/ignore",
    title="A comment that ignores a rule has an effect, and says why.",
    why="a comment without effect hides the next mistake of its kind",
    fix="write # trainyard: ignore RULE: REASON on the line of the finding or above it; in specs, use waive",
    source="docs/ignoring.md",
    may_waive=True,
    may_warn=True,
)

HEADS = (yaml.StreamStartToken, yaml.StreamEndToken, yaml.DocumentStartToken, yaml.DocumentEndToken)
LAST = 1 << 62
"""An index behind every other."""


@dataclass(frozen=True, eq=False)
class Part:
    """The text of one document, with its first line in the file."""

    text: str
    line: int
    spans: Sequence[tuple[int, int]]
    """Where its texts begin and end: what looks like a comment there is none."""
    start: int | None
    """Where its content begins; None if it has none."""

    def comments(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield the matches of a pattern, which begins at a `#`, that are comments."""
        return (match for match in pattern.finditer(self.text) if self._is_comment(match.start()))

    def place(self, at: int) -> tuple[int, int]:
        """Return the line in the file and the column of a character."""
        row = bisect_right(self._starts, at) - 1
        return self.line + row, at - self._starts[row] + 1

    def content_below(self, line: int) -> int:
        """Return the next line of the file with more than a comment, the line itself if there is none."""
        return self._below[line - self.line] or line

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def _below(self) -> list[int]:
        found, below = [], 0
        for row, text in zip(range(len(self._starts) - 1, -1, -1), reversed(self.text.split("\n")), strict=True):
            found.append(below)
            below = self.line + row if text.strip() and not text.lstrip().startswith("#") else below
        return found[::-1]

    def _is_comment(self, at: int) -> bool:
        index = bisect_right(self.spans, (at, LAST)) - 1
        return index < 0 or at >= self.spans[index][1]


def parts(data: bytes) -> Iterator[Part | None]:
    """Yield the documents of a file that may ignore rules, None for one that is no YAML; of other files nothing."""
    data = recode_utf8(data)
    if not SEEN.search(data) or whole_file_problem(data):
        return
    for text, line, problem in split(data):
        yield None if problem else read_part(text.removeprefix(BOM).decode(), line)


def read_part(text: str, line: int = 1) -> Part | None:
    """Return a document's text with the places of its values, None where it is no YAML."""
    spans: list[tuple[int, int]] = []
    start: int | None = None
    try:
        deque(yaml.parse(text, Loader=yaml.CSafeLoader), maxlen=0)
        for token in yaml.scan(text, Loader=yaml.CSafeLoader):
            if start is None and not isinstance(token, (*HEADS, yaml.DirectiveToken)):
                start = token.start_mark.index
            if isinstance(token, yaml.ScalarToken):
                spans.append((value_start(text, token), token.end_mark.index))
    except yaml.YAMLError:
        return None
    return Part(text, line, spans, start)


def value_start(text: str, token: Any) -> int:
    """Return where a text begins; the line of `|` or `>` is none of it."""
    begin: int = token.start_mark.index
    if token.style not in {"|", ">"}:
        return begin
    end = text.find("\n", begin)
    return len(text) if end < 0 else end + 1
