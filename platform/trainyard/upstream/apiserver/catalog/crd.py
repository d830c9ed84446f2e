"""A CustomResourceDefinition, as the closed JSON Schemas that every object of its kind is judged by.

The same conversion serves the importer, which writes `schemas/`, and CRDs among the inputs. What comes out is a
draft-07 schema that a plain JSON Schema engine can read, with the `x-kubernetes-*` keywords and CEL rules kept.
Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema (structural schemas, pruning).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.manifests import mapping

DRAFT = "http://json-schema.org/draft-07/schema#"
OBJECT_META = "meta.v1.ObjectMeta"
"""Name of the definition that every root `metadata` refers to."""

UNSUPPORTED = frozenset({"$ref", "additionalItems", "definitions", "dependencies", "patternProperties"})
"""What no server takes; a definition that has any of it is refused, and nothing is made of it here."""

DROPPED = frozenset({"$schema", "description", "example", "externalDocs", "id", "title"}) | UNSUPPORTED
INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
STRINGS = {"additionalProperties": {"type": ["string", "null"]}, "type": ["object", "null"]}
OWNER_REFERENCE: dict[str, Any] = {
    "additionalProperties": False,
    "properties": {
        **{field: {"type": "string"} for field in ("apiVersion", "kind", "name", "uid")},
        **{field: {"type": ["boolean", "null"]} for field in ("blockOwnerDeletion", "controller")},
    },
    "required": ["apiVersion", "kind", "name", "uid"],
    "type": ["object", "null"],
    "x-kubernetes-map-type": "atomic",
}
TIME = {"format": "date-time", "type": ["string", "null"]}
MANAGED_FIELDS: dict[str, Any] = {
    "additionalProperties": False,
    "properties": {
        **{field: {"type": ["string", "null"]} for field in ("apiVersion", "fieldsType", "manager", "operation")},
        "fieldsV1": {"type": ["object", "null"]},
        "subresource": {"type": ["string", "null"]},
        "time": TIME,
    },
    "type": ["object", "null"],
}
METADATA: dict[str, Any] = {
    "additionalProperties": False,
    "properties": {
        **{
            field: {"type": ["string", "null"]}
            for field in ("generateName", "name", "namespace", "resourceVersion", "selfLink", "uid")
        },
        **{
            field: {"format": "int64", "type": ["integer", "null"]}
            for field in ("deletionGracePeriodSeconds", "generation")
        },
        "annotations": STRINGS,
        "creationTimestamp": TIME,
        "deletionTimestamp": TIME,
        "finalizers": {"items": {"type": "string"}, "type": ["array", "null"], "x-kubernetes-list-type": "set"},
        "labels": STRINGS,
        "managedFields": {"items": MANAGED_FIELDS, "type": ["array", "null"], "x-kubernetes-list-type": "atomic"},
        "ownerReferences": {
            "items": OWNER_REFERENCE,
            "type": ["array", "null"],
            "x-trainyard-absent-keys": {"uid": ""},
            "x-kubernetes-list-map-keys": ["uid"],
            "x-kubernetes-list-type": "map",
        },
    },
    "type": ["object", "null"],
}
"""ObjectMeta, as every server of Kubernetes 1.34 to 1.37 publishes it."""


SHAPES: Mapping[frozenset[str], tuple[type, ...]] = {
    frozenset({"minimum", "maximum", "multipleOf"}): (int, float),
    frozenset({"exclusiveMinimum", "exclusiveMaximum"}): (bool, int, float),
    frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}): (int,),
    frozenset({"type", "format", "pattern", "x-kubernetes-list-type", "x-kubernetes-map-type"}): (str,),
    frozenset({"enum", "required", "x-kubernetes-list-map-keys", "x-kubernetes-validations"}): (list,),
    frozenset({"nullable", "x-kubernetes-int-or-string", "x-kubernetes-embedded-resource"}): (bool,),
    frozenset({"x-kubernetes-preserve-unknown-fields"}): (bool,),
    frozenset({"allOf", "anyOf", "oneOf"}): (list,),
    frozenset({"properties", "items", "not"}): (Mapping,),
    frozenset({"additionalProperties"}): (bool, Mapping),
}
"""Types of the values of keywords, which a definition may have wrong."""

TEXTS_IN = frozenset({"required", "x-kubernetes-list-map-keys"})
"""Keywords whose lists hold names."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One version of a kind: what a server says of it in discovery, and its schema."""

    group: str
    version: str
    kind: str
    plural: str
    scope: str
    schema: Mapping[str, Any]
    served: bool = True
    storage: bool = True
    deprecated: str | None = None
    """The server's warning where the version is deprecated, else None."""
    status: bool = False
    """Whether `status` is a subresource: then it is dropped on create and update."""
    scale: Mapping[str, str] | None = None
    """Paths of the scale subresource, in the CRD's words."""
    gate: str = ""
    """The feature gate, off by default, with which a server serves it; empty where it needs none."""


def is_crd(document: object) -> bool:
    """Whether a document is a CustomResourceDefinition."""
    return (
        isinstance(document, Mapping)
        and document.get("kind") == "CustomResourceDefinition"
        and document.get("apiVersion") == "apiextensions.k8s.io/v1"
    )


def definitions(document: Mapping[str, Any]) -> Iterator[Definition]:
    """Yield every version that a CRD defines; malformed parts are left out, for they are findings of the CRD itself."""
    spec = mapping(document.get("spec"))
    names = mapping(spec.get("names"))
    group, kind, plural = (text(value) for value in (spec.get("group"), names.get("kind"), names.get("plural")))
    if not (group and kind and plural):
        return
    versions = spec.get("versions")
    for one_version in versions if isinstance(versions, list) else []:
        version = mapping(one_version)
        if not (name := text(version.get("name"))):
            continue
        subresources = mapping(version.get("subresources"))
        schema = mapping(mapping(version.get("schema")).get("openAPIV3Schema"))
        yield Definition(
            group=group,
            version=name,
            kind=kind,
            plural=plural,
            scope=text(spec.get("scope")) or "Namespaced",
            schema=root(schema, group, name, kind, preserve=spec.get("preserveUnknownFields") is True),
            served=version.get("served") is True,
            storage=version.get("storage") is True,
            deprecated=deprecation(version, f"{group}/{name} {kind}"),
            status="status" in subresources,
            scale=scale_paths(subresources.get("scale")),
        )


def text(value: object) -> str:
    """Return text as it is, and anything else as an empty one."""
    return value if isinstance(value, str) else ""


def deprecation(version: Mapping[str, Any], label: str) -> str | None:
    """Return the warning of a deprecated version, the server's own where the CRD words none."""
    if version.get("deprecated") is not True:
        return None
    return text(version.get("deprecationWarning")) or f"{label} is deprecated"


def scale_paths(scale: object) -> Mapping[str, str] | None:
    """Return the paths of a scale subresource."""
    paths = {key: value for key, value in sorted(mapping(scale).items()) if isinstance(value, str)}
    return paths or None


def root(schema: Mapping[str, Any], group: str, version: str, kind: str, *, preserve: bool = False) -> dict[str, Any]:
    """Convert the schema of one version: closed, with metadata as the shared ObjectMeta."""
    source = {"type": "object", **schema}
    if preserve:
        source["x-kubernetes-preserve-unknown-fields"] = True
    converted = node(source)
    properties = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, **mapping(converted.get("properties"))}
    properties["metadata"] = metadata(mapping(mapping(schema.get("properties")).get("metadata")))
    return {
        "$schema": DRAFT,
        "definitions": {OBJECT_META: METADATA},
        **converted,
        "properties": properties,
        "x-kubernetes-group-version-kind": [{"group": group, "kind": kind, "version": version}],
    }


def metadata(restrictions: Mapping[str, Any]) -> dict[str, Any]:
    """Refer to ObjectMeta, with the restrictions that a CRD may put on name and generateName."""
    shared = {"$ref": f"#/definitions/{OBJECT_META}"}
    fields = mapping(restrictions.get("properties"))
    limited = {name: plain(fields[name]) for name in ("generateName", "name") if len(mapping(fields.get(name))) > 1}
    return {"allOf": [shared, {"properties": limited}]} if limited else shared


def node(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Convert one node of a structural schema, and everything beneath it."""
    out = plain(schema)
    if isinstance(properties := schema.get("properties"), Mapping):
        out["properties"] = {name: node(mapping(property_)) for name, property_ in properties.items()}
    if isinstance(schema.get("items"), Mapping):
        out["items"] = node(schema["items"])
    close(schema, out)
    if schema.get("x-kubernetes-embedded-resource") is True:
        embed(out)
    if schema.get("x-kubernetes-int-or-string") is True and not has_union(schema):
        out["anyOf"] = [*INT_OR_STRING]
    if schema.get("nullable") is True or schema.get("default") is not None:
        allow_null(out)
    return out


def plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a node without its words; bounds are spelled as draft-07 spells them."""
    out = {key: value for key, value in schema.items() if key not in DROPPED and has_shape(key, value)}
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(flag := out.pop(exclusive, None), bool):
            if flag and bound in out:
                out[exclusive] = out.pop(bound)
        elif flag is not None:
            out[exclusive] = flag
    for key in ("allOf", "anyOf", "oneOf"):
        if isinstance(branches := schema.get(key), list):
            out[key] = [plain_tree(mapping(branch)) for branch in branches]
    if isinstance(schema.get("not"), Mapping):
        out["not"] = plain_tree(schema["not"])
    return out


def has_shape(key: str, value: Any) -> bool:
    """Whether a keyword has a value of its type: another is a finding of the definition and asks nothing."""
    wanted = next((types for keys, types in SHAPES.items() if key in keys), None)
    if wanted is None:
        return True
    if key in TEXTS_IN and isinstance(value, list):
        return all(isinstance(element, str) for element in value)
    if key == "x-kubernetes-validations" and isinstance(value, list):
        return all(isinstance(element, Mapping) and is_rule(element) for element in value)
    return isinstance(value, wanted) and (bool in wanted or not isinstance(value, bool))


def is_rule(value: Mapping[str, Any]) -> bool:
    """Whether a rule in CEL has texts where it should."""
    return isinstance(value.get("rule"), str) and all(
        entry is None or isinstance(entry, bool if key == "optionalOldSelf" else str) for key, entry in value.items()
    )


def plain_tree(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a branch of anyOf, allOf, oneOf or not: it states values and is never closed."""
    out = plain(schema)
    if isinstance(properties := schema.get("properties"), Mapping):
        out["properties"] = {name: plain_tree(mapping(property_)) for name, property_ in properties.items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), Mapping):
            out[key] = plain_tree(schema[key])
    return out


def close(schema: Mapping[str, Any], out: dict[str, Any]) -> None:
    """Refuse unknown fields where the server prunes them."""
    additional = schema.get("additionalProperties")
    preserved = schema.get("x-kubernetes-preserve-unknown-fields") is True
    if isinstance(additional, Mapping):
        out["additionalProperties"] = node(additional)
    elif additional is None and schema.get("type") == "object" and not preserved:
        out["additionalProperties"] = False


def embed(out: dict[str, Any]) -> None:
    """Give an embedded resource its apiVersion, kind and metadata, the first two required."""
    typed = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
    fields = mapping(out.get("properties"))
    out["properties"] = {**typed, **fields, "metadata": {"$ref": f"#/definitions/{OBJECT_META}"}}
    out["required"] = sorted({*out.get("required", []), *typed})


def has_union(schema: Mapping[str, Any]) -> bool:
    """Whether an int-or-string node spells its union already, alone or as the first of allOf."""
    if schema.get("anyOf"):
        return True
    first = next(iter(schema.get("allOf") or []), None)
    return isinstance(first, Mapping) and bool(first.get("anyOf"))


def allow_null(out: dict[str, Any]) -> None:
    """Let a draft-07 engine accept null where it is a value or gives way to a default.

    `nullable` itself stays, for those who read the schema as Kubernetes does.
    """
    if isinstance(out.get("type"), str):
        out["type"] = [out["type"], "null"]
    if isinstance(out.get("enum"), list) and "default" in out and out.get("nullable") is not True:
        out["enum"] = [*out["enum"], None]
    if out.get("x-kubernetes-int-or-string") is True and out.get("anyOf"):
        out["anyOf"] = [*out["anyOf"], {"type": "null"}]
