"""List and map types of a schema's node: sets, maps by key, and atomic ones.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apis/apiextensions/validation/validation.go
ValidateCustomResourceDefinitionOpenAPISchema and validateMapListKeysMapSet.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.apiextensions.nodes import LIST_KEYS, LIST_TYPE, MAP_TYPE, properties
from trainyard.upstream.apiserver.core.shapes import Object, child, flag, text, texts
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

_SOURCE = "k8s.io/apiextensions-apiserver v0.35.4 pkg/apis/apiextensions/validation/validation.go"
LISTS = Rule(
    "core/crd-list-type",
    f"{_SOURCE} ValidateCustomResourceDefinitionOpenAPISchema",
    title="Lists in a CustomResourceDefinition have valid list types and keys.",
    fix="correct x-kubernetes-list-type and x-kubernetes-list-map-keys; keys must be required or have a default",
)
KEYS = LISTS.of_source(f"{_SOURCE} validateMapListKeysMapSet")
_KEY = f"is one of {LIST_KEYS}, so it"


def check_list_types(schema: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with the list type, the list keys and the map type of a node."""
    for keyword, needed, known in (
        (MAP_TYPE, "object", ("atomic", "granular")),
        (LIST_TYPE, "array", ("atomic", "set", "map")),
    ):
        if (given := schema.get(keyword)) is None:
            continue
        if schema.get("type") != needed:
            yield LISTS.invalid(
                (*path, "type"), schema.get("type") or "", f"must be {needed} if {keyword} is specified"
            )
        if given not in known:
            yield LISTS.unsupported((*path, keyword), given, known)
    items, kind = child(schema, "items"), schema.get(LIST_TYPE)
    if schema.get(LIST_KEYS) and kind != "map":
        yield LISTS.invalid((*path, LIST_TYPE), kind, f"must be map if {LIST_KEYS} is non-empty")
    if kind == "set" and items is not None and schema.get("type") == "array":
        yield from _check_atomic(items, (*path, "items"))
    if kind == "map":
        yield from _check_map(schema, items, path)
    if kind in ("set", "map") and items is not None and flag(items, "nullable"):
        yield KEYS.forbidden((*path, "items", "nullable"), f"cannot be nullable when {LIST_TYPE} is {kind}")


def _check_atomic(items: Object, path: Path) -> Iterator[Problem]:
    kind, detail = items.get("type"), "must be atomic as item of a set"
    if kind == "array" and items.get(LIST_TYPE) not in (None, "atomic"):
        yield LISTS.invalid((*path, LIST_TYPE), items[LIST_TYPE], detail)
    if kind == "object" and items.get(MAP_TYPE) != "atomic":
        yield LISTS.invalid((*path, MAP_TYPE), items.get(MAP_TYPE), detail)


def _check_map(schema: Object, items: Object | None, path: Path) -> Iterator[Problem]:
    keys = [key for _, key in texts(schema, LIST_KEYS)]
    if not keys and not schema.get(LIST_KEYS):
        yield LISTS.required((*path, LIST_KEYS), f"must not be empty if {LIST_TYPE} is map")
    if items is None:
        yield LISTS.required((*path, "items"), f"must be a single schema if {LIST_TYPE} is map")
        return
    if items.get("type") != "object":
        at = (*path, "items", "type")
        yield LISTS.invalid(at, text(items, "type"), f"must be object if the list's {LIST_TYPE} is map")
    fields = dict(properties(items))
    needed = [name for _, name in texts(items, "required")]
    for index, key in enumerate(keys):
        at = (*path, "items", "properties", key)
        if items.get("type") == "object" and key in keys[:index]:
            yield LISTS.invalid((*path, LIST_KEYS), key, "must not contain duplicate entries")
        if (field := fields.get(key)) is None:
            if items.get("type") == "object":
                yield LISTS.invalid((*path, LIST_KEYS), key, "entries must all be names of item properties")
            continue
        if field.get("type") in ("array", "object") and items.get("type") == "object":
            yield LISTS.invalid((*at, "type"), field["type"], f"{_KEY} must be a scalar")
        if key not in needed and field.get("default") is None:
            yield KEYS.required((*at, "default"), f"{_KEY} must have a default or be required")
        if flag(field, "nullable"):
            yield KEYS.forbidden((*at, "nullable"), f"{_KEY} cannot be nullable")
