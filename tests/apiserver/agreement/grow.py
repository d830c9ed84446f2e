"""Finds valid objects of every kind: makes one from the schema, and mends it by what the server says is wrong."""

from __future__ import annotations

import copy
import re
from random import Random
from typing import Any

from apiserver.agreement.samples import make_object, make_value
from apiserver.agreement.words import ODD_TEXTS, WORDS
from trainyard.base.documents import Path
from trainyard.faces.live.server import Server
from trainyard.upstream.apiserver import Kind
from trainyard.upstream.apiserver.catalog.schemas import Schema

ROUNDS = 25
STEP = re.compile(r'\.?([^.\[\]]+)|\[("?)([^\]"]*)\2\]')
CHOICES = re.compile(r"supported values: (.*)")


def grow(kind: Kind, rng: Random, server: Server, *, share: float) -> dict[str, Any] | None:
    """Return an object that the server takes, or None where none was found."""
    value = make_object(kind, rng, share=share)
    for _ in range(ROUNDS):
        answer, body = server.ask_create(value, kind)
        if answer.accepted:
            return value if server.apply(value, kind).accepted else None
        causes = (body.get("details") or {}).get("causes") or []
        before = copy.deepcopy(value)
        for cause in causes or [{"field": "", "reason": "", "message": answer.message}]:
            mend(value, kind.schema, cause, rng)
        if value == before:
            return None
    return None


def mend(value: dict[str, Any], schema: Schema, cause: dict[str, str], rng: Random) -> None:
    """Change what one cause of a refusal names."""
    path = parse(cause.get("field", ""))
    if not path:
        return
    message, reason = cause.get("message", ""), cause.get("reason", "")
    parent, node = lead(value, schema, path)
    if parent is None:
        return
    key = path[-1]
    if reason == "FieldValueRequired" and isinstance(key, str) and isinstance(parent, dict):
        parent[key] = make_value(node, key, rng, share=0.0, depth=3) if node else "a1"
    elif (found := CHOICES.search(message)) and (choices := re.findall(r'"([^"]*)"', found[1])):
        put(parent, key, rng.choice(choices))
    elif (example := re.search(r"e\.g\. '([^']*)'", message)) and isinstance(at(parent, key), str):
        put(parent, key, example[1])
    elif isinstance(at(parent, key), str) and rng.random() < 0.5:
        put(parent, key, rng.choice([*WORDS, *ODD_TEXTS]))
    else:
        remove(parent, key)


def parse(field: str) -> Path:
    """Return the path that a server writes as `spec.containers[0].image`."""
    if field in ("", "<nil>"):
        return ()
    steps: list[str | int] = []
    for name, _, index in STEP.findall(field):
        steps.append(name if name else int(index) if index.isdigit() else index)
    return tuple(steps)


def lead(value: Any, node: Schema, path: Path) -> tuple[Any, Schema]:
    """Return what holds the field of a path, and the field's schema; maps on the way are made."""
    for position, step in enumerate(path):
        last = position == len(path) - 1
        holder = value
        if isinstance(holder, dict):
            rest = node.get("additionalProperties")
            node = (node.get("properties") or {}).get(step) or (rest if isinstance(rest, dict) else {})
            if not last and isinstance(step, str) and step not in holder:
                holder[step] = {}
            value = holder.get(step)
        elif isinstance(holder, list):
            node = node.get("items") or {}
            if not isinstance(step, int) or step >= len(holder):
                return (holder, node) if last else (None, {})
            value = holder[step]
        else:
            return None, {}
        if last:
            return holder, node
    return None, {}


def at(parent: Any, key: Any) -> Any:
    """Return what is at a key or index, or None."""
    try:
        return parent[key]
    except (KeyError, IndexError, TypeError):
        return None


def put(parent: Any, key: Any, value: Any) -> None:
    """Set a key or an index that exists."""
    if isinstance(parent, dict) or (isinstance(key, int) and key < len(parent)):
        parent[key] = value


def remove(parent: Any, key: Any) -> None:
    """Take a key, an index, or an item that is the key, away."""
    if isinstance(parent, dict):
        parent.pop(key, None)
    elif isinstance(key, int) and key < len(parent):
        del parent[key]
