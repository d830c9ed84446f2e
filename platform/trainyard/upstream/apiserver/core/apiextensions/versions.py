"""The versions of a CRD: warnings, subresources, printer columns, selectable fields.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.cel import fieldpath
from trainyard.upstream.apiserver.core.apiextensions.nodes import is_convertible
from trainyard.upstream.apiserver.core.apiextensions.schemas import SOURCE
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, count, each, flag, inner, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

VERSION = Rule(
    "core/crd-version",
    f"{SOURCE} validateCustomResourceDefinitionVersion",
    title="Each version of a CustomResourceDefinition has a schema and valid settings.",
    fix="use a name such as v1; set deprecationWarning only with deprecated: true",
)
SCALE = Rule(
    "core/crd-subresources",
    f"{SOURCE} ValidateCustomResourceDefinitionSubresources",
    title="The scale subresource of a CustomResourceDefinition has valid paths.",
    fix="write JSON paths such as .spec.replicas and .status.replicas",
)
COLUMN = Rule(
    "core/crd-column",
    f"{SOURCE} ValidateCustomResourceColumnDefinition",
    title="Printer columns of a CustomResourceDefinition have a name, a type and a JSON path.",
    fix="add the missing field, or write a JSON path that starts with a dot",
)
SELECTABLE = Rule(
    "core/crd-selectable",
    f"{SOURCE} ValidateCustomResourceSelectableFields",
    title="Selectable fields of a CustomResourceDefinition lead to simple fields of its schema.",
    fix="name a field of type string, boolean or integer outside metadata",
)

COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_LONGEST_WARNING = 256
_MOST_SELECTABLE = 8
_SCALARS = ("string", "boolean", "integer")


def check_version(version: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with a version besides its schema."""
    name, warning = version.get("name") or "", version.get("deprecationWarning")
    if detail := names.dns_label_1035(name):
        yield VERSION.invalid((*path, "name"), name, detail)
    if isinstance(warning, str):
        yield from _check_warning(warning, flag(version, "deprecated"), (*path, "deprecationWarning"))
    if (scale := child(inner(version, "subresources"), "scale")) is not None:
        yield from _check_scale(scale, (*path, "subresources", "scale"))
    for index, column in each(version, "additionalPrinterColumns"):
        yield from _check_column(column, (*path, "additionalPrinterColumns", index))
    if count(version, "selectableFields"):
        schema = child(inner(version, "schema"), "openAPIV3Schema")
        if schema is None:
            yield SELECTABLE.invalid((*path, "selectableFields"), "", "may only be set with a schema")
        elif is_convertible(schema):
            yield from _check_selectable(version, schema, (*path, "selectableFields"))


def _check_warning(warning: str, deprecated: bool, path: Path) -> Iterator[Problem]:
    if not deprecated:
        yield VERSION.invalid(path, warning, "can only be set for deprecated versions")
    if names.size(warning) > _LONGEST_WARNING:
        yield VERSION.invalid(path, warning, f"must be at most {_LONGEST_WARNING} characters long")
    if not warning:
        yield VERSION.invalid(path, warning, "must not be an empty string")
    elif not warning.isprintable():
        yield VERSION.invalid(path, warning, "must only contain printable characters")


def _check_scale(scale: Object, path: Path) -> Iterator[Problem]:
    for field, roots, needed in (
        ("specReplicasPath", (".spec.",), True),
        ("statusReplicasPath", (".status.",), True),
        ("labelSelectorPath", (".spec.", ".status."), False),
    ):
        place = scale.get(field)
        if not place:
            if needed:
                yield SCALE.required((*path, field))
        elif isinstance(place, str) and not place.startswith(roots):
            yield SCALE.invalid((*path, field), place, f"must be a json path under {' or '.join(roots).strip('.')}")


def _check_column(column: Object, path: Path) -> Iterator[Problem]:
    for field in ("name", "type", "jsonPath"):
        if not column.get(field):
            yield COLUMN.required((*path, field))
    kind, form, place = text(column, "type"), text(column, "format"), text(column, "jsonPath")
    if kind and kind not in COLUMN_TYPES:
        yield COLUMN.unsupported((*path, "type"), kind, COLUMN_TYPES)
    if form and form not in COLUMN_FORMATS:
        yield COLUMN.unsupported((*path, "format"), form, COLUMN_FORMATS)
    if place and not place.startswith("."):
        yield COLUMN.invalid((*path, "jsonPath"), place, "must be a simple json path starting with '.'")


def _check_selectable(version: Object, schema: Object, path: Path) -> Iterator[Problem]:
    seen: set[tuple[str, ...]] = set()
    for index, selectable in each(version, "selectableFields"):
        place, at = selectable.get("jsonPath"), (*path, index, "jsonPath")
        if not place:
            yield SELECTABLE.required(at)
        if not place or not isinstance(place, str):
            continue
        found = None if "[" in place else fieldpath.parse(place, schema)
        if found is None:
            yield SELECTABLE.invalid(at, place, "is no path to a field of the schema")
        elif found[0] == "metadata":
            yield SELECTABLE.invalid(at, place, "must not point to fields in metadata")
        else:
            if _type_at(schema, found) not in _SCALARS:
                yield SELECTABLE.invalid(at, place, "must point to a field of type string, boolean or integer")
            if found in seen:
                yield SELECTABLE.duplicate(at, place)
            seen.add(found)
    if len(seen) > _MOST_SELECTABLE:
        yield SELECTABLE.too_many(path, len(seen), _MOST_SELECTABLE)


def _type_at(schema: Object, path: tuple[str, ...]) -> object:
    for name in path:
        fields = child(schema, "properties")
        schema = inner(fields, name) if fields else child(schema, "additionalProperties") or EMPTY
    return schema.get("type")
