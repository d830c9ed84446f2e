"""Compiles a type that the server decodes into a Go struct: every core kind, and ObjectMeta in any kind.

Null is nothing, so it is right everywhere but as an element of a list with keys. Numbers must fit their Go type.
Source: sigs.k8s.io/json and the UnmarshalJSON methods of k8s.io/apimachinery v0.35.4, asked of a kube-apiserver 1.35.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.upstream.apiserver.catalog.schemas import TYPE
from trainyard.upstream.apiserver.schema import lists
from trainyard.upstream.apiserver.schema.decoded import (
    DECODED,
    SOURCE,
    integer_check,
    is_base64,
    mismatch,
    schema_or_bool,
)
from trainyard.upstream.apiserver.schema.values import one_of_choices
from trainyard.upstream.apiserver.schema.walk import (
    Check,
    Fault,
    Faults,
    anything,
    arrays,
    below,
    is_flag,
    is_number,
    is_text,
    objects,
    scalars,
)

OPENAPI = "OpenAPI v3 of kube-apiserver"
JSON_SCHEMA = "apiextensions.v1.JSONSchemaProps"


class Compiler:
    """Compiles Go types; a type is compiled once, for types contain each other and themselves.

    `choices` where closed sets are checked; `required` where fields are that OpenAPI requires; `loose` where unknown
    fields and elements that occur twice are passed over.
    """

    def __init__(self, *, choices: bool = True, required: bool = False, loose: bool = False) -> None:
        self.choices = choices
        self.required = required
        self.loose = loose
        self.types: dict[str, Check] = {}

    def root(self, schema: Mapping[str, Any]) -> Check:
        """Compile a kind; in a status a choice is never wrong, whether create drops it or, for a Node, keeps it."""
        properties = dict(schema["properties"])
        status = properties.get("status")
        if status is not None:
            properties["status"] = {}
        check = self.struct({**schema, "properties": properties}, str(schema[TYPE]))
        return check if status is None else split_status(check, Compiler(choices=False).node(status, "status"))

    def node(self, node: Mapping[str, Any], place: str) -> Check:
        """Compile one node; `place` is the Go field that holds it, for messages."""
        go_type = node.get(TYPE)
        if go_type is None:
            return self.field(node, place)
        if go_type not in self.types:
            self.types[go_type] = self.struct(node, go_type)
        return self.types[go_type]

    def struct(self, node: Mapping[str, Any], go_type: str) -> Check:
        """Compile a named type; a status inside a template, as claims have, is none that a server looks at."""
        if go_type == JSON_SCHEMA and not self.loose:
            self.types.update(schema_parts(node))
        if go_type.endswith("Status") and self.choices and "properties" in node:
            return Compiler(choices=False, required=self.required, loose=self.loose).struct(node, go_type)
        return DECODED.get(go_type) or self.field(node, go_type.rpartition(".")[2])

    def field(self, node: Mapping[str, Any], place: str) -> Check:
        """Compile a node by its JSON type."""
        kind = node.get("type")
        if kind == "object":
            return self.object(node, place)
        if kind == "array":
            items = self.node(node.get("items") or {}, place)
            after = () if self.loose else lists.list_checks(node, applied=True)
            return arrays(items, cannot(place, "list"), after, null=True)
        if kind == "string":
            if node.get("format") == "byte":
                return scalars(is_text, cannot(place, "[]byte"), (is_base64,))
            choices = (closed_set(node["enum"]),) if self.choices and node.get("enum") else ()
            return scalars(is_text, cannot(place, "string"), choices)
        if kind == "integer":
            return integer_check(str(node.get("format", "int64")))
        if kind == "boolean":
            return scalars(is_flag, cannot(place, "bool"), ())
        return scalars(is_number, cannot(place, "float64"), ()) if kind == "number" else anything

    def object(self, node: Mapping[str, Any], place: str) -> Check:
        """Compile a struct or a map; what has neither fields nor values of one type is raw JSON."""
        properties, additional = node.get("properties"), node.get("additionalProperties")
        fallback: Check | None = None
        if isinstance(additional, Mapping):
            fallback = self.node(additional, place)
        elif (properties is None and additional is not False) or self.loose:
            fallback = anything

        def compile_child(child: Mapping[str, Any], name: str) -> Check:
            return self.node(child, f"{place}.{name}")

        after = (has_all(node["required"]),) if self.required and node.get("required") else ()
        return objects(properties or {}, fallback, compile_child, cannot(place, "object"), anything, after, SOURCE)


def schema_parts(node: Mapping[str, Any]) -> dict[str, Check]:
    """Return the types of a JSON schema that decode themselves: schemas in them are decoded without being strict.

    Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apis/apiextensions/v1/marshal.go.
    """
    compiler = Compiler(loose=True)

    def schema(value: Any) -> Faults:
        return compiler.node(node, "")(value) if type(value) is dict else None

    schemas = arrays(compiler.node(node, ""), anything, (), null=True)
    names = arrays(scalars(is_text, cannot("JSONSchemaPropsOrStringArray", "string"), ()), anything, (), null=True)
    parts: dict[str, Check] = {
        "apiextensions.v1.JSONSchemaPropsOrArray": lambda value: schema(value) or judge_list(schemas, value),
        "apiextensions.v1.JSONSchemaPropsOrBool": lambda value: schema_or_bool(value) or schema(value),
        "apiextensions.v1.JSONSchemaPropsOrStringArray": lambda value: schema(value) or judge_list(names, value),
    }
    compiler.types.update(parts)
    return parts


def judge_list(check: Check, value: Any) -> Faults:
    """Judge a value if it is a list: what is neither list nor object these types pass over."""
    return check(value) if type(value) is list else None


def split_status(check: Check, status: Check) -> Check:
    """Return a check that judges the status apart."""

    def both(value: Any) -> Faults:
        faults = check(value) or []
        if type(value) is dict and value.get("status") is not None and (found := status(value["status"])):
            faults += below("status", found)
        return faults or None

    return both


def has_all(required: list[str]) -> Check:
    """Return the check of required fields; null is none."""

    def check(value: Any) -> Faults:
        missing = [key for key in required if value.get(key) is None]
        return [Fault("schema/required", "required value", OPENAPI, [key]) for key in missing] if missing else None

    return check


def closed_set(choices: list[Any]) -> Check:
    """Return the check of an enum; empty text stands for no choice, of which the core rules speak."""
    check = one_of_choices(choices)
    return lambda value: check(value) if value else None


def cannot(place: str, go_type: str) -> Check:
    """Return the report of a value that Go cannot decode; what a Secret holds is not shown."""
    secret = place.startswith("Secret.")

    def wrong(value: Any) -> Faults:
        return [Fault("schema/type", mismatch(value, go_type, secret=secret), SOURCE)]

    return wrong
