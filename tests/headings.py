"""Markdown as GitHub, GitLab and the site read it, as far as links go: anchors of headings, and where links lead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FENCE = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2`*\s*?$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
INLINE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)?)\)")
IDS = re.compile(r"<a id=\"([^\"]+)\">")


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page: those of headings, of which the second of a name gets a number, and own ones."""
    found: dict[str, int] = {}
    text = FENCE.sub("", page.read_text("utf-8"))
    made = set(IDS.findall(text))
    for heading in HEADING.findall(text):
        name = slug(heading)
        made.add(f"{name}-{found[name]}" if name in found else name)
        found[name] = found.get(name, 0) + 1
    return frozenset(made)


def slug(heading: str) -> str:
    """Return the anchor of a heading.

    >>> slug("The API server's `verdict` on spec/form")
    'the-api-servers-verdict-on-specform'
    """
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def links(page: Path) -> Iterator[str]:
    """Yield where the links of a page lead, without those in code."""
    text = INLINE.sub(lambda code: "`" * 2 if "](" in code[0] else code[0], FENCE.sub("", page.read_text("utf-8")))
    yield from LINK.findall(text)
