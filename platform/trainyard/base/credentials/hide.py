"""Keeps credentials out of what people are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trainyard.base.credentials.names import Sure, weigh
from trainyard.base.credentials.texts import in_text

HIDDEN = "(hidden)"

LEAST = 6
"""Characters of a credential that are hidden where it is cut off."""


def hide(text: str, values: Iterable[str]) -> str:
    """Return a text without the credentials that are known, also where a message has cut one off."""
    for value in sorted(set(values), key=len, reverse=True):
        for part in {value, *value.splitlines(), repr(value)[1:-1]}:
            text = remove_value(text, part) if len(part) > 1 else text
    return text


def remove_value(text: str, value: str) -> str:
    """Return a text without one value, or the longest beginning of it that stands there before the text was cut."""
    left, right = (
        (r"(?<![A-Za-z0-9])" if value[0].isalnum() else ""),
        (r"(?![A-Za-z0-9])" if value[-1].isalnum() else ""),
    )
    text = re.sub(f"{left}{re.escape(value)}{right}", HIDDEN, text)
    if "…" in text:
        for length in range(len(value), LEAST - 1, -1):
            text = text.replace(f"{value[:length]}…", HIDDEN)
    return text


def hides(text: str, *, name: str = "") -> str:
    """Return a text without whatever looks like a credential in it; `name` is what it stands under."""
    if name and weigh(name, text, told=True)[1] is not Sure.NO:
        return HIDDEN
    for spotted in sorted(in_text(text, program=True), key=lambda leak: -leak.start):
        text = f"{text[: spotted.start]}{HIDDEN}{text[spotted.start + len(spotted.value) :]}"
    return text
