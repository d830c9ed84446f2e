"""Quotes of word processors: YAML takes `“train.py”` as a text that begins and ends with these characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.base.documents import Path, format_path
from trainyard.base.findings import Finding
from trainyard.specs.reading.rules import RULES
from trainyard.specs.sources import Source

QUOTES = "“”„‟‘’‚‛«»"
QUOTED = re.compile(rf"[{QUOTES}][^{QUOTES}]*[{QUOTES}]|[^\s{QUOTES}]*=[{QUOTES}][^{QUOTES}]*[{QUOTES}]")
"""A text in such quotes as a whole, or the value of an option in them."""

PROSE = frozenset({"description", "waive", "policies"})
"""Fields whose texts people read."""

LONGEST = 40
"""Characters of a text that a message shows."""


def check(source: Source) -> Iterator[Finding]:
    """Yield texts in quotes that YAML does not know."""
    value = source.document.value if source.document else None
    text = (source.document.text or b"").decode("utf-8", "replace") if source.document else ""
    if not set(QUOTES) & set(text):
        return
    for path, said in texts(value, ()):
        if QUOTED.fullmatch(said.strip()) and path and path[0] not in PROSE:
            bare = "".join(char for char in said if char not in QUOTES)
            quoted, plain = said[:LONGEST], bare[:LONGEST]
            message = f"{format_path(path)} is {quoted}, whose quotes are part of the text; write {plain}"
            yield RULES["quotes"].at(source, path, message)


def texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield every text in a value, with its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from texts(item, (*path, index))
    elif isinstance(value, str):
        yield path, value
