"""Plain values as canonical block YAML: quoted wherever any YAML reader might take a string for something else."""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
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
    out: list[str] = []
    if isinstance(value, (dict, list)) and value:
        _Writer(out, sort_keys=sort_keys).node(value, "", "")
    else:
        out.append(spell_string(value) if isinstance(value, str) else _scalar(value, ""))
    out.append("")
    return "\n".join(out)


class _Writer:
    """Collects lines; `indent` is where a collection's lines start, `lead` what its first line starts with."""

    __slots__ = ("out", "sort_keys")

    def __init__(self, out: list[str], *, sort_keys: bool) -> None:
        self.out = out
        self.sort_keys = sort_keys

    def node(self, value: Any, indent: str, lead: str) -> None:
        if isinstance(value, dict):
            self.mapping(value, indent, lead)
        else:
            self.sequence(value, indent, lead)

    def mapping(self, value: dict[str, Any], indent: str, lead: str) -> None:
        for key, inner in sorted(value.items()) if self.sort_keys else value.items():
            name = _key(key)
            if len(name) > MAX_KEY:
                self.out.append(f"{lead}? {name}")
                lead, name = indent, ""
            if isinstance(inner, (dict, list)) and inner:
                self.out.append(f"{lead}{name}:")
                deeper = indent + "  " if isinstance(inner, dict) else indent
                self.node(inner, deeper, deeper)
            else:
                self.out.append(f"{lead}{name}: {_scalar(inner, indent)}")
            lead = indent

    def sequence(self, value: list[Any], indent: str, lead: str) -> None:
        for inner in value:
            if isinstance(inner, (dict, list)) and inner:
                self.node(inner, indent + "  ", lead + "- ")
            else:
                self.out.append(f"{lead}- {_scalar(inner, indent)}")
            lead = indent


def _key(key: Any) -> str:
    if not isinstance(key, str):
        message = f"a key of a YAML map must be a string, not {type(key).__name__}"
        raise TypeError(message)
    return spell_string(key)


def _scalar(value: Any, indent: str) -> str:
    """Write a scalar or an empty collection that stands in a collection of this indent."""
    if isinstance(value, str):
        return ("\n" in value and _block(value, indent)) or spell_string(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, (dict, list)):
        return "{}" if isinstance(value, dict) else "[]"
    message = f"YAML has no {type(value).__name__}"
    raise TypeError(message)


@lru_cache(maxsize=20_000)
def spell_string(text: str) -> str:
    """Write a string on one line, in quotes unless every reader takes it for a string without."""
    return text if text not in WORDS and PLAIN.fullmatch(text) else quote(text)


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
