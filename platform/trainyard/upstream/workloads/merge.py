"""Strategic merge: lists are merged by the key that Kubernetes merges them by, null removes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

DIRECTIVE = "$patch"
"""In an item of a list, `$patch: delete` removes the item of that key."""

Lists = Mapping[str, tuple[str, ...]]

LISTS: Lists = {
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
}
"""What tells the items of a pod's lists apart (kubernetes v1.35 `patchMergeKey`)."""


def merge(body: Any, patch: Any, *, lists: Lists, field: str = "") -> Any:
    """Return the body with the patch merged in; neither is changed.

    `lists` are those of the kind whose items are told apart by fields, beside those of pods; others are replaced.
    """
    if isinstance(patch, Mapping):
        old = body if isinstance(body, Mapping) else {}
        merged = {key: item for key, item in old.items() if key not in patch}
        new = {
            key: merge(old.get(key), item, lists=lists, field=key) for key, item in patch.items() if item is not None
        }
        order = [*old, *(key for key in new if key not in old)]
        return {key: new.get(key, merged.get(key)) for key in order if key in new or key in merged}
    keys = lists.get(field) or LISTS.get(field)
    if isinstance(patch, (list, tuple)) and keys:
        return merge_list(body if isinstance(body, (list, tuple)) else [], patch, keys, lists)
    return list(patch) if isinstance(patch, tuple) else patch


def merge_list(
    items: list[Any] | tuple[Any, ...], patch: list[Any] | tuple[Any, ...], keys: tuple[str, ...], lists: Lists
) -> list[Any]:
    """Return the list with the patch's items merged into those of the same key, new ones at the end."""
    merged = list(items)
    places: dict[Hashable, list[int]] = {}
    for index, item in enumerate(merged):
        places.setdefault(identity(item, keys), []).append(index)
    removed: set[int] = set()
    for item in patch:
        wanted = identity(item, keys)
        there = places.setdefault(wanted, []) if wanted is not None else []
        if isinstance(item, Mapping) and item.get(DIRECTIVE) == "delete":
            removed.update(there[:1])
            del there[:1]
        elif there:
            merged[there[0]] = merge(merged[there[0]], item, lists=lists)
        else:
            there.append(len(merged))
            merged.append(merge(None, item, lists=lists))
    return [item for index, item in enumerate(merged) if index not in removed]


def identity(item: Any, keys: tuple[str, ...]) -> Hashable:
    """Return the value of an item's merge key, as text where it is none by which to look up, None where it has none."""
    found = next((item[key] for key in keys if key in item), None) if isinstance(item, Mapping) else None
    return found if isinstance(found, Hashable) and not isinstance(found, tuple) else repr(found)
