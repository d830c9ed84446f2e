"""Texts as Markdown, in which nothing but what is meant to be a mark is one."""

from __future__ import annotations

import re

SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~#!$&]")
"""What Markdown, tables and HTML in it read as marks."""

QUOTED = re.compile(r"(?<!`)`([^\s`|@](?:[^`|@]*[^\s`|@])?)`(?!`)")
"""What a sentence says to be code: without a pipe, which tables read otherwise than lines, and an `@`, which calls."""


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is; nobody is told by an `@` in it."""
    flat = " ".join(text.split())
    return SPECIAL.sub(lambda found: f"&#{ord(found[0])};", flat).replace("@", "&#64;")


def sentence(text: str) -> str:
    """Return a sentence as Markdown, in which what stands between backticks is code, and all else is as it is.

    >>> sentence("job `a_b` has *two* queues")
    'job `a_b` has &#42;two&#42; queues'
    """
    parts = QUOTED.split(text)
    return "".join(code(part) if number % 2 else spaced(part) for number, part in enumerate(parts))


def spaced(text: str) -> str:
    """Return a part of a sentence that Markdown shows as it is, with a blank where it begins or ends with any."""
    before, after = (" " if end.isspace() else "" for end in (text[:1], text[-1:]))
    return f"{before}{found}{after}" if (found := escaped(text)) else before


def code(text: str) -> str:
    """Return a text as code in a cell of a table."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    flat = " ".join(text.split()).replace("|", "\\|")
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def fence(text: str) -> str:
    """Return the fence of a code block that holds the text."""
    return "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
