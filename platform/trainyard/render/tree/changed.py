"""Where a file differs from the base: the line of a change that a finding speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from trainyard.base.findings import Location

QUOTED = re.compile(r"'([^']+)'")
WORD = re.compile(r"[A-Za-z0-9_./-]+")


@dataclass(frozen=True, slots=True)
class Change:
    """Lines of a file that differ: where they are at hand, from 0, and what they were and are."""

    file: str
    line: int
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def location(self) -> Location:
        """The first character that differs; where lines are gone, the line that has taken their place."""
        was, now = next(zip(self.before, self.after, strict=False), ("", next(iter(self.after), "")))
        same = next(
            (at for at, pair in enumerate(zip(was, now, strict=False)) if len({*pair}) > 1), min(len(was), len(now))
        )
        if not self.after or not now[same:].strip():
            same = 0
        while was and same and re.match(r"[A-Za-z0-9_./-]", now[same - 1]):
            same -= 1  # the word that differs, from its start
        return Location(self.file, self.line + 1, (same or len(now) - len(now.lstrip())) + 1)

    def says(self, words: Iterable[str]) -> int:
        """Return how many words stand in what was or is there."""
        text = {word for line in (*self.before, *self.after) for word in WORD.findall(line)}
        return sum(word in text for word in words)


def changes(file: str, before: bytes | None, after: bytes | None) -> Iterator[Change]:
    """Yield where a file differs; one that is new or gone does so from its first line."""
    was, now = ((data or b"").decode(errors="replace").splitlines() for data in (before, after))
    for tag, start, end, first, last in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if tag == "replace" and end - start == last - first:
            for old, new in zip(range(start, end), range(first, last), strict=True):
                yield Change(file, new, (was[old],), (now[new],))
        elif tag != "equal":
            yield Change(file, min(first, max(0, len(now) - 1)), tuple(was[start:end]), tuple(now[first:last]))


def blamed_location(found: Iterable[Change], message: str) -> Location | None:
    """Return the place of the change that has most of the words that a message quotes, the first of several."""
    words = {word for text in QUOTED.findall(message) for word in WORD.findall(text)}
    best = max(found, key=lambda change: change.says(words), default=None)
    return None if best is None else best.location
