"""Tells a template of Go, which is no YAML before it is rendered, from a manifest with a mistake."""

from __future__ import annotations

import re

from trainyard.base.documents import load
from trainyard.base.limits import FILE_BYTES

MARK = b"{{"
BROKEN = frozenset({"decode/syntax", "decode/key"})
"""What YAML says of the marks of a template."""

ACTION = re.compile(rb"\{\{.*?\}\}", re.DOTALL)
ALONE = re.compile(rb"(?m)^[ \t]*(?:\{\{[^{}]*\}\}[ \t]*)+$")
"""A line of nothing but actions, which may begin and end a condition or a loop."""

LEADING = re.compile(rb"[ \t]*\{\{")
"""How a line begins that is an action, which may stand for several lines."""


def is_template(data: bytes) -> bool:
    """Say whether a text is no YAML because of its actions, and of nothing else: without them it can be read.

    A line that begins with an action may still be no YAML: krew's `{{addURIAndSha …}}` stands for two lines.
    """
    if MARK not in data or len(data) > FILE_BYTES or not broken_lines(data):
        return False
    return all(is_led_by_action(data, line) for line in broken_lines(plain(data)))


def breaks(data: bytes, line: int | None) -> bool:
    """Say whether a line of a text is no YAML because of actions: without them something else is wrong, or nothing."""
    return MARK in data and (line not in broken_lines(plain(data)) or is_led_by_action(data, line or 1))


def is_led_by_action(data: bytes, line: int) -> bool:
    """Say whether a line begins with an action."""
    lines = data.splitlines()
    return line <= len(lines) and LEADING.match(lines[line - 1]) is not None


def plain(data: bytes) -> bytes:
    r"""Return a template with a word in place of each action, and each line of actions alone left empty.

    >>> plain(b"{{ if .A }}\na: {{ .A }}\n{{ end }}\n")
    b'\na: x\n\n'
    """
    return ACTION.sub(lambda action: b"x" + b"\n" * action[0].count(b"\n"), ALONE.sub(blank, data))


def blank(line: re.Match[bytes]) -> bytes:
    """Return the line ends of what is left out, so that lines keep their numbers."""
    return b"\n" * line[0].count(b"\n")


def broken_lines(data: bytes) -> list[int]:
    """Return the lines at which a text is no YAML."""
    return [finding.location.line or 1 for finding in load(data, file="")[1] if finding.rule in BROKEN]
