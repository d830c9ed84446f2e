"""Strategic merge: lists are merged by the key that Kubernetes merges them by, null removes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KEYS: Mapping[str, tuple[str, ...]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "resourceClaims": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey",),
    "ports": ("containerPort", "port"),
    "replicatedJobs": ("name",),
}
"""Merge keys of lists (kubernetes v1.35 `patchMergeKey`; jobset v0.12.0 list-map-keys); other lists are replaced."""

DIRECTIVE = "$patch"
"""In an item of a list, `$patch: delete` removes the item of that key."""


def merge(body: Any, patch: Any, *, field: str = "") -> Any:
    """Return the body with the patch merged in; neither is changed."""
    if isinstance(patch, Mapping):
        old = body if isinstance(body, Mapping) else {}
        merged = {key: item for key, item in old.items() if key not in patch}
        new = {key: merge(old.get(key), item, field=key) for key, item in patch.items() if item is not None}
        order = [*old, *(key for key in new if key not in old)]
        return {key: new.get(key, merged.get(key)) for key in order if key in new or key in merged}
    if isinstance(patch, (list, tuple)) and field in KEYS:
        return merge_list(body if isinstance(body, (list, tuple)) else [], patch, KEYS[field])
    return list(patch) if isinstance(patch, tuple) else patch


def merge_list(
    items: list[Any] | tuple[Any, ...], patch: list[Any] | tuple[Any, ...], keys: tuple[str, ...]
) -> list[Any]:
    """Return the list with the patch's items merged into those of the same key, new ones at the end."""
    merged = list(items)
    for item in patch:
        wanted = identity(item, keys)
        at = next(
            (index for index, old in enumerate(merged) if wanted is not None and identity(old, keys) == wanted), None
        )
        if isinstance(item, Mapping) and item.get(DIRECTIVE) == "delete":
            merged = [old for index, old in enumerate(merged) if index != at]
        elif at is None:
            merged.append(merge(None, item))
        else:
            merged[at] = merge(merged[at], item)
    return merged


def identity(item: Any, keys: tuple[str, ...]) -> Any:
    """Return the value of an item's merge key, or None where it has none."""
    return next((item[key] for key in keys if key in item), None) if isinstance(item, Mapping) else None
