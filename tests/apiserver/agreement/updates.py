"""Changes to an object that exists: fields that may change, and such as may not."""

from __future__ import annotations

from random import Random
from typing import Any

from apiserver.agreement.mutate import mutate, slots
from trainyard.base.documents import format_path
from trainyard.upstream.apiserver.catalog.schemas import Schema

OTHERS: dict[type, tuple[Any, ...]] = {
    str: ("b", "b1", "web-2", "other.example.com"),
    int: (1, 2, 3, 5),
    bool: (True, False),
}


def change(value: dict[str, Any], schema: Schema, rng: Random) -> tuple[dict[str, Any], str]:
    """Return the object as it becomes; its name and kind stay, so that it is an update."""
    new, note = mutate(value, schema, rng)
    if rng.random() < 0.5:
        new, note = mutate(value, schema, rng, count=0)[0], ""
        places = [
            one_slot
            for one_slot in slots(new, schema)
            if type(one_slot.value) in OTHERS and one_slot.path != ("metadata", "name")
        ]
        if places:
            slot = rng.choice(places)
            slot.put(rng.choice(OTHERS[type(slot.value)]))
            note = f"other {format_path(slot.path)}"
    metadata = new.get("metadata")
    if not isinstance(metadata, dict):
        new["metadata"] = metadata = {}
    metadata["name"] = value["metadata"]["name"]
    return new, note
