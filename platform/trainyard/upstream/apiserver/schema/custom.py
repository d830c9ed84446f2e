"""Compiles the structural schema of a CRD: how the server judges a custom resource once defaults are in.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema (pruning, defaulting, listtype, objectmeta) and
pkg/apiserver/validation; the rules for null were asked of a kube-apiserver 1.35.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.upstream.apiserver.catalog.schemas import TYPE
from trainyard.upstream.apiserver.patterns import Patterns
from trainyard.upstream.apiserver.problems import spell_value
from trainyard.upstream.apiserver.schema import lists, typed, values
from trainyard.upstream.apiserver.schema.dropped import PRUNING, Shape, nothing_nested
from trainyard.upstream.apiserver.schema.embedded import check_embedded
from trainyard.upstream.apiserver.schema.walk import (
    Check,
    Fault,
    Faults,
    anything,
    arrays,
    is_flag,
    is_number,
    is_text,
    json_name,
    objects,
    scalars,
)

NULL = "schema/null"
"""The rule of what server-side apply alone refuses."""
DROPPED = "status (which create drops, so no object has it)"
LARGEST_WHOLE_FLOAT = 2**53 - 1
"""Beyond it kube-openapi takes no float for an integer."""


class Compiler:
    """Compiles the nodes of one schema; `ranged` where the server checks the width of integers (1.36 and later)."""

    def __init__(self, *, ranged: bool) -> None:
        self.ranged = ranged
        self.typed = typed.Compiler()
        self.patterns = Patterns()

    def root(self, schema: Mapping[str, Any], *, drops_status: bool) -> Check:
        """Compile the schema of a kind; a status that the server drops is judged by its shape alone."""
        if not drops_status or "status" not in schema.get("properties", {}):
            return self.node(schema)
        properties = dict(schema["properties"])
        shape = Shape().node(properties["status"])
        required = [DROPPED if name == "status" else name for name in schema.get("required", ())]
        whole = self.node({**schema, "properties": {**properties, "status": {}}, "required": required})
        return typed.split_status(whole, shape)

    def node(self, node: Mapping[str, Any], _name: str = "") -> Check:
        """Compile one node."""
        if TYPE in node:
            return self.typed.node(node, "")
        after = (*values.tests(node, self.branch, self.patterns, ranged=self.ranged), *lists.list_checks(node))
        kind = "int-or-string" if node.get("x-kubernetes-int-or-string") else node.get("type")
        wrong = not_a(kind)
        if kind == "object":
            return self.object(node, wrong, after)
        if kind == "array":
            items = node.get("items")
            return arrays(self.item(items) if isinstance(items, Mapping) else anything, wrong, after)
        return scalars(SCALARS.get(str(kind), lambda _: True), wrong, after)

    def object(self, node: Mapping[str, Any], wrong: Check, after: tuple[Check, ...]) -> Check:
        """Compile an object; unknown fields are refused unless they are kept or have a schema."""
        properties = node.get("properties") or {}
        required = list(node.get("required", ()))
        nullable = {name for name, property_ in properties.items() if accepts_null(property_)}
        additional = node.get("additionalProperties")
        fallback: Check | None = anything
        if isinstance(additional, Mapping):
            fallback = self.node(additional)
        elif additional is True:
            fallback = nothing_nested
        elif not node.get("x-kubernetes-preserve-unknown-fields"):
            fallback = None
        free = accepts_null(additional) if isinstance(additional, Mapping) else True

        def null(name: str) -> Faults:
            if name in properties:
                if name in nullable and not (name in required and is_dropped(properties[name])):
                    return enum_of_null(properties[name])
                return null_field(needed=name in required)
            return None if free else null_field(needed=False)

        tests = [*after]
        if required:
            tests.insert(0, has_all(required))
        if node.get("x-kubernetes-embedded-resource"):
            tests.append(check_embedded)
        return objects(properties, fallback, self.node, wrong, null, tuple(tests), PRUNING)

    def item(self, node: Mapping[str, Any]) -> Check:
        """Compile the element of a list: null is no element unless it is nullable."""
        check = self.node(node)
        if not accepts_null(node):
            return check
        return lambda value: enum_of_null(node) if value is None else check(value)

    def branch(self, node: Mapping[str, Any]) -> Check:
        """Compile a branch of anyOf, allOf, oneOf or not: it states values and closes nothing."""
        tests = [*values.tests(node, self.branch, self.patterns, ranged=self.ranged)]
        kind = node.get("type")
        if isinstance(kind, str):
            tests.insert(0, scalars(SCALARS.get(kind, lambda _: True), not_a(kind), ()))
        if required := node.get("required"):
            tests.append(has_all(required))
        if properties := node.get("properties"):
            inner = {name: self.branch(property_) for name, property_ in properties.items()}
            tests.append(fields(inner))
        if isinstance(items := node.get("items"), Mapping):
            tests.append(elements(self.branch(items)))
        if isinstance(additional := node.get("additionalProperties"), Mapping):
            tests.append(others(self.branch(additional), node.get("properties") or {}))

        def check(value: Any) -> Faults:
            if value is None:
                return None
            faults: list[Fault] = []
            for test in tests:
                if found := test(value):
                    faults += found
            return faults or None

        return check


def accepts_null(node: Mapping[str, Any]) -> bool:
    """Whether null is a value of a node: where it says so, is decoded into Go, or has no type at all."""
    return (
        bool(node.get("nullable")) or TYPE in node or not (node.get("type") or node.get("x-kubernetes-int-or-string"))
    )


def is_dropped(node: Mapping[str, Any]) -> bool:
    """Whether create drops null from a field: wherever the field is not nullable, and without a type too."""
    return not node.get("nullable") and TYPE not in node


def is_whole(value: Any) -> bool:
    """Whether the value is an integer to the server: in 64 bits, or a float without a fraction."""
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return type(value) is float and value.is_integer() and abs(value) <= LARGEST_WHOLE_FLOAT


SCALARS = {
    "string": is_text,
    "boolean": is_flag,
    "number": is_number,
    "integer": is_whole,
    "int-or-string": lambda value: type(value) is str or is_whole(value),
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
}


def not_a(kind: str | None) -> Check:
    """Return the report of a wrong type."""
    words = "integer or string" if kind == "int-or-string" else kind

    def wrong(value: Any) -> Faults:
        found = "" if value is None or isinstance(value, dict | list) else f" {spell_value(value, limit=40)}"
        return [Fault("schema/type", f"must be of type {words}, but is {type_of(value)}{found}", values.SOURCE)]

    return wrong


def type_of(value: Any) -> str:
    """Return the JSON type of a value; an integer too large for 64 bits is a number."""
    return "number" if type(value) is int and not is_whole(value) else json_name(value)


def null_field(*, needed: bool) -> list[Fault]:
    """Report null in a field that is not nullable: create drops it, server-side apply takes it for a value."""
    if needed:
        return [Fault("schema/required", "required value: null is no value", values.SOURCE)]
    message = "invalid value: null: leave the field out; create drops null, server-side apply refuses it"
    return [Fault(NULL, message, values.SOURCE)]


def enum_of_null(node: Mapping[str, Any]) -> Faults:
    """Refuse null where there is a closed set, nullable or not."""
    return values.one_of_choices(node["enum"])(None) if node.get("enum") else None


def has_all(required: list[str]) -> Check:
    """Return the check of required fields."""
    wanted = frozenset(required)

    def check(value: Any) -> Faults:
        if type(value) is not dict or value.keys() >= wanted:
            return None
        return [
            Fault("schema/required", "required value", values.SOURCE, [key]) for key in required if key not in value
        ]

    return check


def fields(checks: Mapping[str, Check]) -> Check:
    """Return the check of some fields of an object."""

    def check(value: Any) -> Faults:
        if type(value) is not dict:
            return None
        faults: list[Fault] = []
        for key, test in checks.items():
            if key in value and (found := test(value[key])):
                for fault in found:
                    fault.path.append(key)
                faults += found
        return faults

    return check


def others(test: Check, known: Mapping[str, Any]) -> Check:
    """Return the check of the fields that have no schema of their own."""
    return lambda value: (
        fields({key: test for key in value if key not in known})(value) if type(value) is dict else None
    )


def elements(test: Check) -> Check:
    """Return the check of a list's elements."""
    check = arrays(test, anything, ())
    return lambda value: check(value) if type(value) is list else None
