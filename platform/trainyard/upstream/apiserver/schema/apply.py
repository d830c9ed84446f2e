"""What server-side apply makes of an object that exists: what was applied goes with it, what others wrote stays.

The live object is the old one with its defaults, which belong to nobody. What the old manifest held and the new one
does not is taken away: a struct with all that is in it, defaults too, where nothing in it is applied any more. What is
emptied so becomes null. Source: sigs.k8s.io/structured-merge-diff v6.3.0 merge/update.go (Apply, prune),
typed/merge.go, typed/remove.go, typed/tofieldset.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.upstream.apiserver.schema.lists import absent, hashable, keys_of

Node = Mapping[str, Any]
Members = Mapping[Any, Any]
"""What a manifest holds of a map or list: by field or identity, what it holds of that."""
LOOSE: Node = {}
"""Stands for the type of what a schema says nothing of: a map of anything, or a list that is one value."""
GONE = object()


def merge(live: Any, before: Any, now: Any, node: Node) -> Any:
    """Return the object that results where `before` was applied last and `now` is applied over `live`."""
    merged = _merged(live, now, node)
    if _is_same(before, now):
        return merged
    return _without(merged, _gone(_held(merged, node), _held(before, node), _held(now, node)), node)


def _is_same(one: Any, two: Any) -> bool:
    """Whether two manifests hold the same, so that nothing goes; 1 and true are equal to Python, but not as text."""
    return bool(one == two) and json.dumps(one) == json.dumps(two)


def _gone(there: Members, last: Members, new: Members) -> Members:
    """Return the members that were held last, exist, and are not held now; empty beneath a member that goes whole."""
    found: dict[Any, Members] = {}
    for name, below in last.items():
        if name in there and name not in new:
            found[name] = {}
        elif name in there and (inside := _gone(there[name], below, new[name])):
            found[name] = inside
    return found


def _merged(live: Any, now: Any, node: Node) -> Any:
    """Put what is applied over what is there; nothing goes yet, and null is an empty map or list."""
    if isinstance(live, dict) and live and _is_granular(live, node) and (now is None or isinstance(now, dict)):
        given = now or {}
        found = {
            name: _merged(value, given[name], _below(node, name)) if name in given else value
            for name, value in live.items()
        }
        return {**found, **{name: value for name, value in given.items() if name not in live}}
    if isinstance(live, list) and live and _is_granular(live, node) and (now is None or isinstance(now, list)):
        items = node.get("items") or LOOSE
        lives, news = dict(_elements(live, node)), dict(_elements(now or [], node))
        merged = [_merged(lives[key], value, items) if key in lives else value for key, value in news.items()]
        return merged + [value for key, value in lives.items() if key not in news]
    return now


def _without(value: Any, gone: Members, node: Node) -> Any:
    """Take away what is gone; what is emptied by that becomes null."""
    if not gone:
        return value
    if isinstance(value, dict):
        kept = {
            name: _without(entry, gone.get(name, {}), _below(node, name))
            for name, entry in value.items()
            if gone.get(name, True)
        }
        return kept or None
    items = node.get("items") or LOOSE
    left = [
        _without(element, gone.get(name, {}), items) for name, element in _elements(value, node) if gone.get(name, True)
    ]
    return left or None


def _held(value: Any, node: Node) -> Members:
    """Return the members that a manifest holds beneath a value; fields of a struct that hold nothing are not held."""
    if not _is_granular(value, node):
        return {}
    if isinstance(value, dict):
        fields = node.get("properties") or {}
        found = {name: _held(entry, _below(node, name)) for name, entry in value.items()}
        return {
            name: below
            for name, below in found.items()
            if below or name not in fields or _is_leaf(value[name], _below(node, name))
        }
    return {identity: _held(element, node.get("items") or LOOSE) for identity, element in _elements(value, node)}


def _is_leaf(value: Any, node: Node) -> bool:
    """Whether a value is held as one, with nothing beneath: a scalar, null, an empty map, an atomic map or list."""
    return value == {} or not _is_granular(value, node)


def _is_granular(value: Any, node: Node) -> bool:
    """Whether what is in a map or list is applied one by one."""
    if isinstance(value, dict):
        return node.get("x-kubernetes-map-type") != "atomic"
    return isinstance(value, list) and bool(keys_of(node)[0])


def _below(node: Node, name: str) -> Node:
    found = (node.get("properties") or {}).get(name, node.get("additionalProperties"))
    return found if isinstance(found, dict) else LOOSE


def _elements(values: list[Any], node: Node) -> Iterator[tuple[Any, Any]]:
    """Yield the elements of a list with what tells them apart: their keys, or themselves."""
    kind, keys = keys_of(node)
    missing = absent(node, keys) if kind == "map" else {}
    for index, value in enumerate(values):
        if kind == "set":
            yield hashable(value), value
        elif isinstance(value, dict):
            yield tuple(hashable(value.get(key, missing.get(key, GONE))) for key in keys), value
        else:
            yield index, value
