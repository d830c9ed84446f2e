"""Lists that are sets or maps: no element twice, by value or by their keys; compared after defaulting.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/listtype/validation.go, and
sigs.k8s.io/structured-merge-diff v6.3.0 typed/helpers.go, by which server-side apply identifies elements.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from trainyard.upstream.apiserver.problems import spell_value
from trainyard.upstream.apiserver.schema.walk import Check, Fault, Faults

CREATED = "k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/listtype/validation.go"
APPLIED = "sigs.k8s.io/structured-merge-diff v6.3.0 typed/helpers.go"
DUPLICATE = "schema/duplicate"
ABSENT = object()
ONLY_APPLY = "; server-side apply refuses it"


def list_checks(node: Mapping[str, Any], *, applied: bool = False) -> tuple[Check, ...]:
    """Return the checks of a node's list type; `applied` for those of server-side apply alone."""
    kind, keys = keys_of(node)
    if kind == "set":
        return (unique_values(applied=applied),)
    if kind == "map":
        return (unique_keys(keys, absent(node, keys), applied=applied),)
    return ()


def keys_of(node: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return how elements are told apart: `map` with the keys, `set`, or nothing for a list that is one value."""
    kind, keys = node.get("x-kubernetes-list-type"), node.get("x-kubernetes-list-map-keys")
    if kind is None and "merge" in str(node.get("x-kubernetes-patch-strategy", "")).split(","):
        merge_key = node.get("x-kubernetes-patch-merge-key")
        kind, keys = ("map", [merge_key]) if merge_key else ("set", None)
    if kind == "set":
        return "set", []
    return ("map", list(keys)) if kind == "map" and keys else ("", [])


def absent(node: Mapping[str, Any], keys: Sequence[str]) -> Mapping[str, Any]:
    """Return the values of missing keys: in Go the zero value of the type, elsewhere the default."""
    if (zeroes := node.get("x-trainyard-absent-keys")) is not None:
        return dict(zeroes)
    properties = (node.get("items") or {}).get("properties") or {}
    return {key: properties[key]["default"] for key in keys if "default" in properties.get(key, {})}


def unique_values(*, applied: bool) -> Check:
    """Return the check of a set."""
    source, suffix = (APPLIED, ONLY_APPLY) if applied else (CREATED, "")

    def check(value: Any) -> Faults:
        if type(value) is not list:
            return None
        seen: set[Any] = set()
        faults = []
        for index, item in enumerate(value):
            if isinstance(item, dict | list) or (applied and item is None):
                message = f"invalid value: {spell_value(item)}: an element of a set must be a scalar{ONLY_APPLY}"
                faults.append(Fault("schema/type", message, APPLIED, [index]))
            if (identity := hashable(item)) in seen:
                faults.append(Fault(DUPLICATE, f"duplicate value: {spell_value(item)}{suffix}", source, [index]))
            seen.add(identity)
        return faults

    return check


def unique_keys(keys: Sequence[str], missing: Mapping[str, Any], *, applied: bool) -> Check:
    """Return the check of a map: elements are objects that differ in their keys."""
    source, suffix = (APPLIED, ONLY_APPLY) if applied else (CREATED, "")
    absent_keys = [missing.get(key, ABSENT) for key in keys]
    identity_of = itemgetter(*keys)

    def are_distinct(value: list[Any]) -> bool:
        """Whether all elements have all keys, and no two are even alike."""
        try:
            return len({identity_of(item) for item in value}) == len(value)
        except (KeyError, TypeError):
            return False

    def check(value: Any) -> Faults:
        if type(value) is not list or are_distinct(value):
            return None
        seen: set[Any] = set()
        faults = []
        for index, item in enumerate(value):
            if type(item) is not dict:
                if item is None and applied:
                    faults.append(
                        Fault(
                            "schema/null", f"invalid value: null: must be an object with keys{suffix}", source, [index]
                        )
                    )
                continue
            found = [item.get(key, default) for key, default in zip(keys, absent_keys, strict=True)]
            if applied and all(daemon is ABSENT for daemon in found):
                message = f"required value: must have the fields that identify it: {', '.join(keys)}{suffix}"
                faults.append(Fault("schema/required", message, source, [index]))
                continue
            identity = tuple(hashable(daemon) for daemon in found)
            if identity in seen:
                known = {key: part for key, part in zip(keys, found, strict=True) if part is not ABSENT}
                faults.append(Fault(DUPLICATE, f"duplicate value: {spell_value(known)}{suffix}", source, [index]))
            seen.add(identity)
        return faults

    return check


def hashable(value: Any) -> Any:
    """Return a hashable twin that only equal values share: true is not 1, and text is not a list of that spelling."""
    if isinstance(value, dict | list):
        return dict, json.dumps(value, sort_keys=True)
    return value if type(value) is str or value is ABSENT else (type(value), value)
