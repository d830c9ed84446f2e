"""Where the key or value ends that a finding is about: underlined in a text, and the end of the region elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from trainyard.base.documents.spans import Place, around, spans
from trainyard.base.findings import Location
from trainyard.faces.report.view import Lines

LARGEST = 2**18
"""Characters of the largest text that is read for it; in a larger one a word is underlined."""

WORD = re.compile(r"\"(?:[^\"\\]|\\.)*\"?|'(?:[^']|'')*'?|[^\s,:\[\]{}#]+|.")
"""What is underlined where nobody knows better: a quoted text, a word, or else one character."""

SIGN = re.compile(r"[^\w\s]")
"""One character that is no word: what follows belongs to it."""


def end_of(where: Location, lines: Lines) -> Place | None:
    """Return the place behind the key or value at a place, None where the file is not known."""
    found = lines(where.file) if where.line and where.column else ()
    if not where.line or not where.column or where.line > len(found):
        return None
    at, text = (where.line, where.column), found[where.line - 1]
    known = tokens(where.file, lines)
    if at in known:
        return known[at] if known[at] > at else (at[0], at[1] + 1)
    word = WORD.match(text, min(where.column - 1, len(text)))
    end = where.column + max(1, len(word[0]) if word else 1)
    outer = around(known, at)
    if outer is None:
        return where.line, end
    limit = outer[1] if outer[0] == where.line else len(text) + 1
    is_sign = word is not None and SIGN.fullmatch(word[0]) is not None
    return where.line, max(where.column + 1, limit if is_sign else min(end, limit))


@lru_cache(maxsize=8)
def tokens(file: str, lines: Lines) -> Mapping[Place, Place]:
    """Return the spans of a file of YAML, none of a program or of a large file."""
    found = lines(file)
    is_large = sum(map(len, found)) > LARGEST
    return {} if is_large or file.endswith((".py", ".md", ".sh")) else spans("\n".join(found))
