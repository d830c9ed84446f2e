"""Reads `# trainyard: ignore RULE: REASON` in YAML, where it is a comment and no part of a text.

A comment counts on its line; alone on a line, for the next line; above the first field, for the document; and in
front of the `---` of the first document, for the file. JSON has no comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from trainyard.base.documents.positions import BOM
from trainyard.base.documents.stream import recode_utf8, split, whole_file_problem
from trainyard.base.findings import Finding, Location, did_you_mean
from trainyard.judge.checks.ignores.rules import IGNORE

WORD = "ignore"
FORM = "# trainyard: ignore RULE: REASON"
SEEN = "trainyard:"
COMMENT = re.compile(r"(?:(?<=\s)|^)#[ \t]*trainyard:[ \t]*(?P<word>[A-Za-z-]+)(?P<rest>[^\n]*)", re.MULTILINE)
HEADS = (yaml.StreamStartToken, yaml.StreamEndToken, yaml.DocumentStartToken, yaml.DocumentEndToken)
LAST = 1 << 62
"""A line behind every other."""


@dataclass(eq=False, slots=True)
class Comment:
    """One comment: what it ignores, why, and on which lines of the file."""

    rules: tuple[str, ...]
    reason: str
    location: Location
    first: int
    last: int
    used: set[str] = field(default_factory=set)
    """The names of `rules` that ignored a finding."""

    def is_about(self, line: int | None) -> bool:
        """Say whether it counts on a line; for what has none, only what counts in the whole file."""
        return self.first == 1 and self.last == LAST if line is None else self.first <= line <= self.last

    @property
    def width(self) -> int:
        """How many lines it is for; the narrowest counts."""
        return self.last - self.first


@dataclass(frozen=True, slots=True)
class Part:
    """The text of one document, with its first line in the file."""

    text: str
    line: int
    spans: Sequence[tuple[int, int]]
    """Where its texts begin and end: what looks like a comment there is none."""
    start: int | None
    """Where its content begins; None if it has none."""

    def is_comment(self, at: int) -> bool:
        """Say whether a place in the text is no part of a value."""
        index = bisect_right(self.spans, (at, LAST)) - 1
        return index < 0 or at >= self.spans[index][1]

    def line_of(self, at: int) -> int:
        """Return the line of a place, in the file."""
        return self.line + self.text.count("\n", 0, at)


def read(name: str, data: bytes) -> tuple[list[Comment], list[Finding]]:
    """Return the comments of a file, and what is wrong with those that ignore nothing; of broken YAML none."""
    data = recode_utf8(data)
    if SEEN.encode() not in data or whole_file_problem(data):
        return [], []
    comments: list[Comment] = []
    findings: list[Finding] = []
    begun = False
    for text, line, problem in split(data):
        part = None if problem else read_part(text.removeprefix(BOM).decode(), line)
        for item in () if part is None else comments_in(part, name, first=not begun):
            if isinstance(item, Comment):
                comments.append(item)
            else:
                findings.append(item)
        begun = begun or part is None or part.start is not None
    return sorted(comments, key=lambda comment: comment.width), findings


def read_part(text: str, line: int) -> Part | None:
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


def comments_in(part: Part, name: str, *, first: bool) -> Iterator[Comment | Finding]:
    """Yield the comments of a document, or what is wrong with them; `first` says that nothing stands before it."""
    for match in COMMENT.finditer(part.text):
        if not part.is_comment(match.start()):
            continue
        line = part.line_of(match.start())
        place = Location(name, line, match.start() - part.text.rfind("\n", 0, match.start()))
        if match["word"] != WORD:
            if did_you_mean(match["word"], [WORD]).startswith("did"):
                yield IGNORE.of(place, f"comment says {match['word']!r}, which has no effect; write {FORM}")
            continue
        names, colon, reason = match["rest"].partition(":")
        rules = tuple(word.strip() for word in names.split(","))
        if not all(rules) or any(len(rule.split()) > 1 for rule in rules):
            yield IGNORE.of(place, f"comment names no rule; write {FORM}")
        elif not (colon and reason.strip()):
            yield IGNORE.of(place, f"comment gives no reason; write # trainyard: ignore {', '.join(rules)}: REASON")
        else:
            yield Comment(rules, reason.strip(), place, *lines_of(part, match.start(), line, first=first))


def lines_of(part: Part, at: int, line: int, *, first: bool) -> tuple[int, int]:
    """Return the first and the last line for which a comment counts; none, if nothing follows it."""
    if part.start is None:
        return (1, LAST) if first else (line, line)
    if at < part.start:
        return part.line, part.line + part.text.rstrip("\n").count("\n")
    begin = part.text.rfind("\n", 0, at) + 1
    if part.text[begin:at].strip():
        return line, line
    following = enumerate(part.text[at:].split("\n")[1:], 1)
    below = next((number for number, text in following if text.strip() and not text.lstrip().startswith("#")), 0)
    return line + below, line + below
