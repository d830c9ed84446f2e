"""Strategic merge: lists are merged by the key that Kubernetes merges them by, null removes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.carriers.table import LISTS

DIRECTIVE = "$patch"
"""In an item of a list, `$patch: delete` removes the item of that key."""


Lists = Mapping[str, tuple[str, ...]]


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
    for item in patch:
        wanted = identity(item, keys)
        at = next(
            (index for index, old in enumerate(merged) if wanted is not None and identity(old, keys) == wanted), None
        )
        if isinstance(item, Mapping) and item.get(DIRECTIVE) == "delete":
            merged = [old for index, old in enumerate(merged) if index != at]
        elif at is None:
            merged.append(merge(None, item, lists=lists))
        else:
            merged[at] = merge(merged[at], item, lists=lists)
    return merged


def identity(item: Any, keys: tuple[str, ...]) -> Any:
    """Return the value of an item's merge key, or None where it has none."""
    return next((item[key] for key in keys if key in item), None) if isinstance(item, Mapping) else None
