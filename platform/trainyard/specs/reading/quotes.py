"""Quotes, dashes and spaces of word processors: YAML takes `“train.py”` as a text with these characters in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.characters import fault
from trainyard.base.documents import Path, format_path
from trainyard.base.findings import Finding
from trainyard.specs.reading.rules import RULES
from trainyard.specs.sources import Source

PROSE = frozenset({"description", "waive", "policies"})
"""Fields whose texts people read."""


def check(source: Source) -> Iterator[Finding]:
    """Yield texts with characters that look like others."""
    text = (source.document.text or b"") if source.document else b""
    if text.isascii():
        return
    for path, said in texts(source.document.value if source.document else None, ()):
        if path and path[0] not in PROSE and not said.isascii() and (wrong := fault(said, prose="env" in path)):
            yield RULES["quotes"].at(source, path, f"{format_path(path)} {wrong}")


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
