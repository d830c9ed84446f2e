"""Reads `# trainyard: ignore RULE: REASON` in YAML.

A comment counts on its line; alone on a line, for the next line; above the first field, for the document; and in
front of the `---` of the first document, for the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from trainyard.base.documents.comments import COMMENT, IGNORE, LAST, WORD, Part, parts
from trainyard.base.findings import Finding, Location, did_you_mean

FORM = "# trainyard: ignore RULE: REASON"


@dataclass(eq=False, slots=True)
class Comment:
    """One comment: the rules that it ignores, why, and on which lines of the file."""

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


def read(name: str, data: bytes) -> tuple[list[Comment], list[Finding]]:
    """Return the comments of a file, and findings on those that ignore nothing; of broken YAML neither."""
    comments: list[Comment] = []
    findings: list[Finding] = []
    begun = False
    for part in parts(data):
        for item in () if part is None else comments_in(part, name, first=not begun):
            if isinstance(item, Comment):
                comments.append(item)
            else:
                findings.append(item)
        begun = begun or part is None or part.start is not None
    return sorted(comments, key=lambda comment: comment.width), findings


def comments_in(part: Part, name: str, *, first: bool) -> Iterator[Comment | Finding]:
    """Yield the comments of a document, or what is wrong with them; `first` says that nothing stands before it."""
    for match in part.comments(COMMENT):
        place = Location(name, *part.place(match.start()))
        if match["word"] != WORD:
            if did_you_mean(match["word"], [WORD]).startswith("did"):
                yield IGNORE.of(place, f"comment says {match['word']!r}, which has no effect; write {FORM}")
            continue
        if not match["colon"]:
            yield IGNORE.of(place, f"comment has no ':' behind 'trainyard', so it has no effect; write {FORM}")
            continue
        names, colon, reason = match["rest"].partition(":")
        rules = tuple(word.strip() for word in names.split(","))
        if not all(rules) or any(len(rule.split()) > 1 for rule in rules):
            yield IGNORE.of(place, f"comment names no rule; write {FORM}")
        elif not (colon and reason.strip()):
            yield IGNORE.of(place, f"comment gives no reason; write # trainyard: ignore {', '.join(rules)}: REASON")
        else:
            yield Comment(rules, reason.strip(), place, *lines_of(part, match, first=first))


def lines_of(part: Part, match: re.Match[str], *, first: bool) -> tuple[int, int]:
    """Return the first and the last line for which a comment counts; its own, if nothing follows it."""
    at = match.start()
    line, column = part.place(at)
    if part.start is None:
        return (1, LAST) if first else (line, line)
    if at < part.start:
        return part.line, part.line + part.text.rstrip("\n").count("\n")
    if part.text[at - column + 1 : at].strip():
        return line, line
    below = part.content_below(line)
    return below, below
