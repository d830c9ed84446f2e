"""The schema of one version: keywords that no CRD may use, list and map types, where defaults may stand, rules.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apis/apiextensions/validation/validation.go
ValidateCustomResourceDefinitionOpenAPISchema.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from trainyard.upstream.apiserver.core.apiextensions.bounds import Around
from trainyard.upstream.apiserver.core.apiextensions.costs import Costs, Ledger
from trainyard.upstream.apiserver.core.apiextensions.expressions import Environments, check_rules, check_stated
from trainyard.upstream.apiserver.core.apiextensions.listtypes import check_list_types
from trainyard.upstream.apiserver.core.apiextensions.nodes import (
    EMBEDDED,
    IS_UNSUPPORTED,
    LIST_TYPE,
    PRESERVE,
    branches,
    properties,
)
from trainyard.upstream.apiserver.core.shapes import Object, child, count, flag
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/apiextensions-apiserver v0.35.4 pkg/apis/apiextensions/validation/validation.go"
SCHEMA = Rule(
    "core/crd-schema",
    f"{SOURCE} ValidateCustomResourceDefinitionOpenAPISchema",
    title="A CustomResourceDefinition's OpenAPI schema uses only keywords that the API server supports.",
    fix="remove or correct the keyword in the message",
)
TYPES = ("array", "boolean", "integer", "number", "object", "string")
_OWN = ("apiVersion", "kind", "metadata")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands: what it may not say there, and the schema that its rules are compiled against."""

    root: bool = False
    in_metadata: bool = False
    no_defaults: str = ""
    """Why no default may stand here."""
    uncorrelated: bool = False
    """Whether old values cannot be found for these: the elements of lists that are no maps."""
    environments: Environments | None = None
    """None in junctors, and where the schema is not structural: rules are not compiled there."""
    converted: Object | None = None
    around: Around = field(default_factory=Around)
    ledger: Ledger = field(default_factory=Ledger)

    def below(self, schema: Object, *keys: str) -> Place:
        """Return the place of a child of a schema."""
        found: object = self.converted
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        converted = found if isinstance(found, dict) else None
        return replace(self, root=False, converted=converted, around=self.around.into(schema, *keys))


def check_schema(schema: Object, path: Path, place: Place) -> list[Problem]:
    """Return the problems with a node and everything beneath it; its rules are compiled only if nothing else is."""
    stated, compiled = _check(schema, path, place)
    return [*stated, *compiled, *place.ledger.check()]


def _check(schema: Object, path: Path, place: Place) -> tuple[list[Problem], list[Problem]]:
    stated = [*_check_keywords(schema, path, place), *check_list_types(schema, path), *check_stated(schema, path)]
    compiled: list[Problem] = []
    for node, at, where in _children(schema, path, place):
        deeper = _check(node, at, where)
        stated += deeper[0]
        compiled += deeper[1]
    if not stated and place.environments is not None and place.converted is not None:
        root = place.root or flag(schema, EMBEDDED)
        costs = Costs(schema, root, place.around, place.ledger)
        compiled += check_rules(costs, place.converted, path, place.environments, uncorrelated=place.uncorrelated)
    return stated, compiled


def _children(schema: Object, path: Path, place: Place) -> Iterator[tuple[Object, Path, Place]]:
    if (additional := child(schema, "additionalProperties")) is not None:
        where = place.below(schema, "additionalProperties")
        if place.in_metadata:
            where = replace(where, no_defaults="inside additionalProperties applying to object metadata")
        yield additional, (*path, "additionalProperties"), where
    resource = place.root or flag(schema, EMBEDDED)
    for name, node in properties(schema):
        where = place.below(schema, "properties", name)
        if resource and name in _OWN:
            where = replace(where, in_metadata=True)
            where = replace(where, no_defaults=f"in top-level {name}") if place.root else where
        yield node, (*path, "properties", name), where
    if (items := child(schema, "items")) is not None:
        uncorrelated = place.uncorrelated or schema.get(LIST_TYPE) != "map"
        yield items, (*path, "items"), replace(place.below(schema, "items"), uncorrelated=uncorrelated)
    for branch, at in branches(schema, path):
        yield branch, at, replace(place, root=False, environments=None, converted=None)


def _check_keywords(schema: Object, path: Path, place: Place) -> Iterator[Problem]:
    kind = schema.get("type")
    if kind and kind not in TYPES:
        yield SCHEMA.unsupported((*path, "type"), kind, TYPES)
    if schema.get("default") is not None and place.no_defaults:
        yield SCHEMA.forbidden((*path, "default"), f"must not be set {place.no_defaults}")
    for keyword, is_used in IS_UNSUPPORTED.items():
        if is_used(schema.get(keyword)):
            yield SCHEMA.forbidden((*path, keyword), f"{keyword} is not supported")
    if schema.get("$schema"):
        yield SCHEMA.invalid((*path, "$schema"), schema["$schema"], "is not supported")
    if count(schema, "items") and isinstance(schema.get("items"), list):
        yield SCHEMA.forbidden((*path, "items"), "must be a schema object and not an array")
    if place.in_metadata and flag(schema, EMBEDDED):
        yield SCHEMA.forbidden((*path, EMBEDDED), "must not be used inside of resource meta")
    if flag(schema, "uniqueItems"):
        yield SCHEMA.forbidden((*path, "uniqueItems"), "cannot be true, as it costs quadratic time")
    additional = schema.get("additionalProperties")
    if count(schema, "properties") and additional is not None and additional is not True:
        yield SCHEMA.forbidden((*path, "additionalProperties"), "cannot be set together with properties")
    if schema.get(PRESERVE) is False:
        yield SCHEMA.invalid((*path, PRESERVE), False, "must be true or undefined")
