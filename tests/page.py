"""The pages of the documentation, for tests that run what they show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent

from conftest import ROOT

BLOCK = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def text(name: str, section: str = "") -> str:
    """Return a page below docs/, or one section of it by its heading."""
    found = (ROOT / "docs" / name).read_text(encoding="utf-8")
    if section:
        match = re.search(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", found, re.MULTILINE | re.DOTALL)
        assert match, f"{name} has no section {section!r}"
        found = match[1]
    return found


def blocks(name: str, language: str, section: str = "") -> Iterator[str]:
    """Yield the code blocks of a page, or of a section, in one language."""
    for match in BLOCK.finditer(text(name, section)):
        if match[2] == language:
            yield dedent(match[4])


def files(name: str, section: str = "") -> dict[str, str]:
    """Return the code blocks whose first line is a comment with the path of a file, by that path."""
    found = {}
    for match in BLOCK.finditer(text(name, section)):
        shown = dedent(match[4])
        named = re.match(r"# ((?:[\w.-]+/)*[\w-]+\.\w+)\n", shown)
        if named:
            found[named[1]] = shown
    return found
