"""Core kinds: objects of any shape give problems or none, never an exception."""

from __future__ import annotations

from random import Random
from typing import Any

from apiserver import core_objects as objects
from apiserver.core_objects import judged
from example_counts import tries
from trainyard.upstream.apiserver.schema.defaults import copy_containers

ODD: tuple[Any, ...] = (
    *(None, 0, 1, -1, 1.5, True, False, "", " ", "x", [], {}, [None], [[]], [{}], {"a": None}, {"a": {}}, ["a", 1]),
    *([1, "a", None, {}], {"1": 2}, 10**400, "\x00", {"": ""}, [["a"]], {"x": ["y"]}),
)
KINDS = [
    value for name, value in vars(objects).items() if name.isupper() and isinstance(value, dict) and "kind" in value
]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every owner and key beneath a value."""
    found: list[tuple[Any, Any]] = []
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(entries):
        found += [(value, key), *places(inner)]
    return found


def damaged(random: Random, base: dict[str, Any]) -> dict[str, Any]:
    """Return a copy with one to four values of any type."""
    value = copy_containers(base)
    for _ in range(random.choice((1, 1, 2, 4))):
        owner, key = random.choice(places(value))
        if key not in {"kind", "apiVersion"}:
            owner[key] = copy_containers(random.choice(ODD))
    return value


def test_damaged_objects() -> None:
    """Objects damaged at random are judged, alone and as a change of what was whole, and the other way."""
    for seed in range(tries(3000)):
        random = Random(seed)
        base = random.choice(KINDS)
        value = damaged(random, base)
        release = random.choice(("1.34", "1.35", "1.36"))
        judged(value, kubernetes=release)
        judged(value, kubernetes=release, old=base)
        judged(base, kubernetes=release, old=value)
