"""The fast readers of YAML may pass a text on, but never read it differently from the slow one."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from conftest import ROOT
from trainyard.base.documents import events, lines
from trainyard.base.documents.construct import construct
from trainyard.base.documents.nodes import compose
from trainyard.base.documents.problem import Remarkable, Unreadable

WORDS: dict[str, list[str]] = json.loads((ROOT / "tests/data/yaml_words.json").read_text(encoding="utf-8"))
KEYS, VALUES, LINES = WORDS["keys"], WORDS["values"], WORDS["lines"]
"""What may stand before a colon, the first ones nearly always; behind it; and on a line of its own."""


def scattered(random: random.Random) -> list[str]:
    """Return lines that need not fit together."""
    return [
        random.choice(LINES)
        if random.random() < 0.15
        else " " * random.choice((0, 1, 2, 3, 4, 6))
        + random.choice(("", "", "", "- ", "-  ", "- - "))
        + random.choice((KEYS[:6], KEYS)[random.random() < 0.2])
        + random.choice((": ", ": ", ":", " : ", ":  ", ":\t"))
        + random.choice(VALUES)
        + random.choice(("", "", "", " ", "\t", " # c"))
        for _ in range(random.randint(1, 7))
    ]


def nested(random: random.Random, depth: int = 0, indent: int = 0) -> list[str]:
    """Return lines that mostly fit together."""
    listed = random.random() < 0.4
    found: list[str] = []
    for number in range(random.randint(1, 4)):
        before = " " * indent + ("- " if listed else "")
        key = KEYS[number] if random.random() < 0.85 else random.choice(KEYS)
        if random.random() < 0.45 or depth > 3:
            found.append(before + ("" if listed and random.random() < 0.5 else f"{key}: ") + random.choice(VALUES))
            if random.random() < 0.15:
                found.append(" " * (indent + random.choice((0, 1, 2, 4))) + random.choice((*VALUES, *LINES)))
        else:
            found.append(f"{before}{key}:" + random.choice(("", " # c", " ")))
            found += nested(random, depth + 1, indent + (2 if listed else 0) + random.choice((0, 2, 2, 2, 1, 4)))
    return found


def damaged(random: random.Random) -> list[str]:
    """Return lines of a generated file, some of them changed."""
    found = random.choice(FILES).read_text(encoding="utf-8").splitlines()
    start = random.randrange(len(found))
    found = found[start : start + 12]
    for _ in range(random.randint(0, 2)):
        at = random.randrange(len(found))
        head, colon, _ = found[at].partition(": ")
        change = random.choice((head + colon + random.choice(VALUES), " " + found[at], random.choice(LINES), head))
        found[at] = change
    return found


FILES = sorted((ROOT / "generated").rglob("*.yaml"))


READERS: tuple[Callable[[str, events.Memo], Any], ...] = (
    lines.read,
    lambda text, memo: events.build(text.encode(), memo),
)


def slowly(text: str) -> tuple[bool, Any]:
    """Return whether the slow reader takes a text without a word, and its value."""
    try:
        root, dropped = compose(text, 1)
        value, problems = construct(root) if root is not None else (None, [])
    except Unreadable:
        return False, None
    return not problems and dropped is None, value


@pytest.mark.parametrize("make", [scattered, nested, damaged])
def test_no_reader_reads_differently(make: Callable[[random.Random], list[str]]) -> None:
    """What a fast reader takes, the slow one takes too, with the same value, types and order."""
    numbers, memo, taken = random.Random(2026), events.Memo(), 0
    for _ in range(1000):
        text = "\n".join(make(numbers)) + "\n"
        if "\n---" in text:
            continue
        for read in READERS:
            try:
                value = read(text, memo)
            except (Remarkable, yaml.YAMLError):
                continue
            taken += 1
            assert (True, repr(value)) == (slowly(text)[0], repr(slowly(text)[1])), text
    assert taken > 100
