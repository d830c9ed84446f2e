"""One change to an object, chosen by a seed: such as break it, and such as only look as if they did."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from apiserver.agreement.samples import make_value
from apiserver.agreement.words import ODD_ANYTHING, ODD_NUMBERS, ODD_QUANTITIES, ODD_TEXTS
from trainyard.base.documents import Path, format_path
from trainyard.upstream.apiserver.catalog.schemas import TYPE, Schema

ODD_KEYS = (
    "unknown", "x", "", "a/b", "a/b/c", "example.com/x", "UPPER", "a" * 64, "a b", "kubernetes.io/x", "-a", "1", "a_",
)  # fmt: skip

UNTOUCHED = {("apiVersion",), ("kind",), ("metadata",), ("metadata", "namespace"), ("status",)}
"""Fields whose change asks for another object, or is for a subresource."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in an object: what holds it, what it holds, and its schema."""

    path: Path
    parent: Any
    value: Any
    node: Schema

    @property
    def key(self) -> Any:
        """The field's name, or the index in a list."""
        return self.path[-1]

    def put(self, value: Any) -> None:
        """Replace what is there."""
        self.parent[self.key] = value


def slots(value: Any, node: Schema, path: Path = ()) -> Iterator[Slot]:
    """Yield every place beneath a value."""
    if isinstance(value, dict):
        fields, rest = node.get("properties") or {}, node.get("additionalProperties")
        for key, child in value.items():
            below = fields.get(key) or (rest if isinstance(rest, dict) else {})
            if (*path, key) not in UNTOUCHED:
                yield Slot((*path, key), value, child, below)
            if path or key not in ("apiVersion", "kind", "status"):
                yield from slots(child, below, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield Slot((*path, index), value, child, node.get("items") or {})
            yield from slots(child, node.get("items") or {}, (*path, index))


Change = Callable[[Slot, Random], "str | None"]
"""Changes the object in place and says what it did, or None where it does not apply."""


def drop(slot: Slot, rng: Random) -> str | None:
    """Leave a field or an item out."""
    del slot.parent[slot.key]
    return "drop"


def misspell(slot: Slot, rng: Random) -> str | None:
    """Write a field's name wrongly: a letter less, another case, or a plural."""
    if not isinstance(slot.parent, dict) or not isinstance(slot.key, str) or len(slot.key) < 2:
        return None
    at = rng.randrange(len(slot.key))
    wrong = rng.choice(
        [slot.key[:at] + slot.key[at + 1 :], slot.key.swapcase(), slot.key + "s", slot.key[0].upper() + slot.key[1:]]
    )
    if wrong in slot.parent or not wrong:
        return None
    slot.parent[wrong] = slot.parent.pop(slot.key)
    return "misspell"


def retype(slot: Slot, rng: Random) -> str | None:
    """Put a value of another type."""
    slot.put(copy.deepcopy(rng.choice(ODD_ANYTHING)))
    return "type"


def odd(slot: Slot, rng: Random) -> str | None:
    """Put a value of the same type that is odd."""
    special = slot.node.get(TYPE)
    if special == "resource.Quantity" or (slot.node.get("x-kubernetes-int-or-string") and rng.random() < 0.6):
        slot.put(rng.choice(ODD_QUANTITIES))
    elif special == "intstr.IntOrString":
        slot.put(rng.choice([*ODD_NUMBERS, *ODD_TEXTS]))
    elif isinstance(slot.value, bool):
        slot.put(not slot.value)
    elif isinstance(slot.value, int):
        slot.put(rng.choice(ODD_NUMBERS))
    elif isinstance(slot.value, str):
        slot.put(rng.choice(ODD_TEXTS))
    else:
        return None
    return "value"


def edge(slot: Slot, rng: Random) -> str | None:
    """Go to the edge of what the schema says, or one beyond it."""
    node, step = slot.node, rng.choice([0, 1])
    choices: list[Any] = []
    if isinstance(slot.value, str):
        choices += ["a" * (int(node["maxLength"]) + step)] if int(node.get("maxLength", 10**6)) < 10**5 else []
        choices += ["a" * max(0, int(node["minLength"]) - step)] if "minLength" in node else []
        if words := node.get("enum"):
            word = str(rng.choice(words))
            choices += [word, word, word.lower(), word + "x", word[:-1]]
    elif isinstance(slot.value, int) and not isinstance(slot.value, bool):
        choices += [int(node["maximum"]) + step] if "maximum" in node else []
        choices += [int(node["minimum"]) - step] if "minimum" in node else []
        choices += [slot.value + 1, slot.value - 1, -slot.value]
    if not choices:
        return None
    slot.put(rng.choice(choices))
    return "edge"


def add(slot: Slot, rng: Random) -> str | None:
    """Add a field that the schema knows and the object has not."""
    fields = slot.node.get("properties") or {}
    absent = [name for name in fields if isinstance(slot.value, dict) and name not in slot.value]
    if not absent:
        return None
    name = rng.choice(absent)
    slot.value[name] = make_value(fields[name], name, rng, share=rng.choice([0.0, 0.3, 0.8]), depth=3)
    return f"add {name}"


def unknown(slot: Slot, rng: Random) -> str | None:
    """Add a field that nobody knows, or a key to a map that is free."""
    if not isinstance(slot.value, dict):
        return None
    key = rng.choice(ODD_KEYS)
    sibling = next(iter(slot.value.values()), "a")
    slot.value[key] = copy.deepcopy(rng.choice([sibling, "a", 1, None]))
    return "unknown"


def repeat(slot: Slot, rng: Random) -> str | None:
    """Write an item of a list twice, the second time perhaps with another field."""
    if not isinstance(slot.value, list) or not slot.value:
        return None
    again = copy.deepcopy(rng.choice(slot.value))
    if isinstance(again, dict) and again and rng.random() < 0.5:
        keys = list(again)
        field = rng.choice(keys)
        again[field] = rng.choice(["b", "b1", 2, 81]) if not isinstance(again[field], (dict, list)) else again[field]
    slot.value.insert(rng.randrange(len(slot.value) + 1), again)
    return "repeat"


def shrink(slot: Slot, rng: Random) -> str | None:
    """Empty a list or a map, or turn a list round."""
    if not isinstance(slot.value, (list, dict)):
        return None
    if isinstance(slot.value, list) and len(slot.value) > 1 and rng.random() < 0.5:
        slot.value.reverse()
    else:
        slot.value.clear()
    return "shrink"


def null(slot: Slot, rng: Random) -> str | None:
    """Write null."""
    slot.put(None)
    return "null"


CHANGES: tuple[tuple[Change, int], ...] = (
    (drop, 6), (misspell, 3), (retype, 3), (odd, 16), (edge, 8), (add, 16), (unknown, 3),
    (repeat, 4), (shrink, 3), (null, 3),
)  # fmt: skip


def borrow(value: dict[str, Any], slot: Slot, others: list[Slot], rng: Random) -> str | None:
    """Put what another field of the object holds: names that are referred to, and those that refer."""
    texts = [other.value for other in others if type(other.value) is type(slot.value) and other.value != slot.value]
    if not isinstance(slot.value, (str, int)) or not texts:
        return None
    slot.put(rng.choice(texts))
    return "borrow"


def mutate(value: dict[str, Any], schema: Schema, rng: Random, *, count: int = 1) -> tuple[dict[str, Any], str]:
    """Return a changed copy of an object, and what was changed."""
    changed = copy.deepcopy(value)
    done: list[str] = []
    for _ in range(40):
        if len(done) == count:
            break
        places = list(slots(changed, schema))
        if not places:
            break
        free = [place for place in places if place.path[0] != "metadata"]
        slot = rng.choice(free if free and rng.random() < 0.85 else places)
        if rng.random() < 0.06:
            what = borrow(changed, slot, places, rng)
        else:
            ((change, _),) = rng.choices(CHANGES, [weight for _, weight in CHANGES])
            what = change(slot, rng)
        if what is not None:
            done.append(f"{what} {format_path(slot.path)}")
    return changed, "; ".join(done)
