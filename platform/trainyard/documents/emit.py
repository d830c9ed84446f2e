"""Plain values as canonical block YAML: quoted wherever any YAML reader might take a string for something else."""

from __future__ import annotations

import json
import math
import re
from typing import Any

WORDS = {
    word
    for lower in ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
    for word in (lower, lower.capitalize(), lower.upper())
}

PLAIN = re.compile(
    r"(?:(?:[A-Za-z_/$]|--?(?=[A-Za-z])|\.\.?(?=/))"
    r"(?:[A-Za-z0-9_./@+=$~%^*()&;,-]|:(?=[^ ])|[ ](?=[A-Za-z0-9_./$=+(&*-]))*"
    r"|[1-9][0-9]*(?:\.[0-9]+)?(?:m|k|[KMGTP]i?|Ei))"
)
"""Strings that every reader of YAML 1.1 and 1.2 takes for strings, inside block collections."""

BLOCK_LINE = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]*")
UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
MAX_KEY = 512
"""Longest key in characters that is written in front of its colon; libyaml and go-yaml look 1,024 ahead."""


def dump(value: Any, *, sort_keys: bool = False) -> str:
    """Write one value as one document of block YAML that ends in a line feed and has no anchors.

    Keys stay in the order of the dicts unless `sort_keys`. Raises TypeError for what JSON does not know and
    ValueError for numbers that are not finite.
    """
    writer = _Writer(sort_keys)
    if isinstance(value, (dict, list)) and value:
        writer.node(value, "")
    else:
        writer.out.append(writer.scalar(value, None))
    writer.out.append("")
    return "\n".join(writer.out)


class _Writer:
    """Collects lines; remembers how each string is written, since most recur."""

    def __init__(self, sort_keys: bool) -> None:
        self.out: list[str] = []
        self.sort_keys = sort_keys
        self.strings: dict[str, str] = {}

    def node(self, value: Any, indent: str, first: str | None = None) -> None:
        """Write a filled map or list; `first` stands in place of the first line's indent."""
        lead = indent if first is None else first
        if isinstance(value, dict):
            items = sorted(value.items()) if self.sort_keys else value.items()
            for key, inner in items:
                self.pair(self.key(key), inner, indent, lead)
                lead = indent
            return
        for inner in value:
            if isinstance(inner, (dict, list)) and inner:
                self.node(inner, indent + "  ", lead + "- ")
            else:
                self.out.append(f"{lead}- {self.scalar(inner, indent)}")
            lead = indent

    def pair(self, key: str, value: Any, indent: str, lead: str) -> None:
        if len(key) > MAX_KEY:
            self.out.append(f"{lead}? {key}")
            lead, key = indent, ""
        if not (isinstance(value, (dict, list)) and value):
            self.out.append(f"{lead}{key}: {self.scalar(value, indent)}")
            return
        self.out.append(f"{lead}{key}:")
        self.node(value, indent + "  " if isinstance(value, dict) else indent)

    def key(self, key: Any) -> str:
        if not isinstance(key, str):
            message = f"a key of a YAML map must be a string, not {type(key).__name__}"
            raise TypeError(message)
        return self.strings.get(key) or self.string(key)

    def scalar(self, value: Any, indent: str | None) -> str:
        """Write a scalar, or an empty collection; without an indent always on one line."""
        if isinstance(value, str):
            if indent is not None and "\n" in value and (block := _block(value, indent)):
                return block
            return self.strings.get(value) or self.string(value)
        if value is None:
            return "null"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return _float(value)
        if isinstance(value, (dict, list)):
            return "{}" if isinstance(value, dict) else "[]"
        message = f"YAML has no {type(value).__name__}"
        raise TypeError(message)

    def string(self, text: str) -> str:
        written = text if text not in WORDS and PLAIN.fullmatch(text) else quote(text)
        self.strings[text] = written
        return written


def quote(text: str) -> str:
    """Write a string in double quotes, with the escapes that JSON and YAML share."""
    return UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text, ensure_ascii=False))


def _block(text: str, indent: str) -> str | None:
    """Write a text of several lines as a literal block, or nothing where only quotes keep it whole."""
    if not BLOCK_LINE.fullmatch(text.replace("\n", "")) or text[0] in "\n \t":
        return None
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    if body.rstrip(" \t") != body or "\n" not in body:
        return None
    chomp = "-" if ends == 0 else "" if ends == 1 else "+"
    inner = indent + "  "
    lines = [inner + line if line else "" for line in body.split("\n")] + [""] * (ends - 1)
    return f"|{chomp}\n" + "\n".join(lines)


def _float(value: float) -> str:
    if not math.isfinite(value):
        message = f"{value} is not a number in JSON"
        raise ValueError(message)
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    mantissa, mark, exponent = text.partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{mark}{exponent}" if mark else text
