"""The same object written as people write YAML: other spellings of scalars, anchors, merge keys, flow, comments."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from apiserver.agreement.verdicts import Case
from trainyard.base.documents import dump

SPELLINGS: tuple[tuple[str, Any], ...] = (
    ("y", True), ("n", False), ("yes", True), ("Off", False), ("TRUE", True), ("tRUE", "tRUE"), ("010", 8),
    ("0o10", 8), ("08", 8),
    ("0x1f", 31), ("0b11", 3), ("1_000", 1000), ("+5", 5), ("1e3", 1000.0), ("1.", 1.0), (".5", 0.5), ("1.0", 1.0),
    ("12:30:45", "12:30:45"),
    ("1:30", "1:30"), ("2001-01-01", "2001-01-01"), ("~", None), ("null", None), ("Null", None), ("=", "="),
    ("'010'", "010"),
    ('"y"', "y"), ("!!str 5", "5"), ("!custom a", "a"), ("|\n        a\n        b\n", "a\nb\n"),
    (">-\n        a\n        b\n", "a b"),
    ("1e400", "1e400"), ("0777", 511), ("1__0", 10), ("-0", 0), ("0.", 0.0), ("'it''s'", "it's"),
    ('"\\u0041"', "A"), ("a#b", "a#b"),
    ("a #b", "a"), ("[a, b]", ["a", "b"]), ("{a: b}", {"a": "b"}), ("{a, b}", {"a": None, "b": None}), ("[]", []),
    ("{}", {}),
)  # fmt: skip
"""How a scalar is written, and what the API machinery reads."""

MARK = "trainyard-agreement-mark"


def scalar(value: dict[str, Any], rng: Random) -> tuple[str, Any, str]:
    """Write one scalar oddly; return the text, the object that it means, and a note."""
    changed = json.loads(json.dumps(value))
    places = leaves(changed)
    if not places:
        return dump(changed), changed, "as it is"
    parent, key = rng.choice(places)
    spelled, meant = rng.choice(SPELLINGS)
    parent[key] = MARK
    text = dump(changed).replace(MARK, spelled, 1)
    parent[key] = meant
    return text, changed, f"{key}: {spelled.strip()!r}"


def leaves(value: Any) -> list[tuple[Any, Any]]:
    """Return holder and key of every scalar of a spec; what identifies the object stays."""
    found: list[tuple[Any, Any]] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in pairs:
        if key in ("apiVersion", "kind", "name", "namespace"):
            continue
        if isinstance(child, (dict, list)):
            found += leaves(child)
        else:
            found.append((value, key))
    return found


def flow(value: dict[str, Any], rng: Random) -> tuple[str, Any, str]:
    """Write it as JSON."""
    return json.dumps(value, ensure_ascii=rng.random() < 0.5), value, "as JSON"


def framed(value: dict[str, Any], rng: Random) -> tuple[str, Any, str]:
    """Put comments, a directive or document marks around it."""
    before, after = rng.choice([("---\n", ""), ("# a\n---\n", "---\n"), ("\ufeff", ""), ("\n\n", "\n# end")])
    return before + dump(value) + after, value, f"between {before!r} and {after!r}"


def shared(value: dict[str, Any], rng: Random) -> tuple[str, Any, str]:
    """Write a part once with an anchor, and again by its alias or by a merge key."""
    merged = rng.random() < 0.5
    notes = {"a": "1", "b": "2"}
    changed = json.loads(json.dumps(value))
    metadata = changed.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        return flow(value, rng)
    metadata["labels"] = {"l": MARK}
    metadata["annotations"] = {"n": MARK}
    text = dump(changed).replace(
        f"l: {MARK}", "<<: &shared {a: '1', b: '2'}" if merged else "a: &one '1'\n    b: '2'", 1
    )
    text = text.replace(f"n: {MARK}", "<<: *shared" if merged else "a: *one\n    b: '2'", 1)
    metadata["labels"] = metadata["annotations"] = notes
    return text, changed, "with a merge key" if merged else "with an alias"


def windows(value: dict[str, Any], rng: Random) -> tuple[str, Any, str]:
    """End the lines as Windows does."""
    return dump(value).replace("\n", "\r\n"), value, "with CRLF"


WAYS: tuple[Callable[[dict[str, Any], Random], tuple[str, Any, str]], ...] = (
    scalar,
    scalar,
    scalar,
    flow,
    framed,
    shared,
    windows,
)


def respell(value: dict[str, Any], note: str, rng: Random) -> Case:
    """Return the case written in one of these ways."""
    text, meant, how = rng.choice(WAYS)(value, rng)
    return Case(meant, f"{note}; {how}", text=text)
