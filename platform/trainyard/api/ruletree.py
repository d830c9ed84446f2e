"""The rules that a schema states in CEL, found and compiled: the tree that `rules` walks.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/cel/validation.go, compilation.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from trainyard.api.cel import BOOL, STRING, CompileError, Environment, Program, fieldpath, optional_of
from trainyard.api.cel.declare import Declarations
from trainyard.api.problems import Path
from trainyard.api.ratchet import Schema
from trainyard.api.served import Kind


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One rule, compiled; `error` says why it is not."""

    text: str
    message: str
    reason: str
    path: Path
    takes_optional: bool
    program: Program | None = None
    message_program: Program | None = None
    error: CompileError | None = None

    @property
    def reads_old(self) -> bool:
        """Whether it compares with the value before."""
        return self.program is not None and "oldSelf" in self.program.variables


@dataclass(slots=True)
class Node:
    """The rules of one node of a schema, and the nodes beneath that have any."""

    schema: Schema
    declarations: Declarations
    root: bool
    stated: list[Mapping[str, Any]]
    fields: dict[str, Node] = field(default_factory=dict)
    values: Node | None = None
    items: Node | None = None
    all_of: list[Node] = field(default_factory=list)
    compiled: dict[int, list[CompiledRule]] = field(default_factory=dict)

    def rules(self, minor: int) -> list[CompiledRule]:
        """Return the node's own rules, compiled for a minor release of Kubernetes."""
        if minor not in self.compiled:
            self.compiled[minor] = [
                compile_rule(self, rule, minor) for rule in self.stated if rule.get("rule", "").strip()
            ]
        return self.compiled[minor]

    def convert(self, value: Any) -> Any:
        """Return a value as CEL sees it."""
        found = self.declarations.convert(self.schema)
        return value if found is None or value is None else found(value)


class Builder:
    """Finds the rules of one schema."""

    def __init__(self, schema: Schema) -> None:
        self.declarations = Declarations()
        self.bearing: set[int] = set()
        """Identities of the schema's nodes that state a rule, there or beneath."""
        self.mark(schema)

    def mark(self, schema: Schema) -> bool:
        """Whether a schema states a rule anywhere, remembered for each of its nodes."""
        bears = "x-kubernetes-validations" in schema
        properties = schema.get("properties")
        if properties:
            for each in properties.values():
                bears = self.mark(each) or bears
        for key in ("items", "additionalProperties"):
            each = schema.get(key)
            if isinstance(each, Mapping):
                bears = self.mark(each) or bears
        for each in schema.get("allOf") or ():
            bears = self.mark(each) or bears
        if bears:
            self.bearing.add(id(schema))
        return bears

    def build(self, stated: Schema, schema: Schema, *, root: bool) -> Node:
        """Find the rules that `stated` has for values of `schema`: the same, or a branch of its `allOf`."""
        node = Node(schema, self.declarations, root, list(stated.get("x-kubernetes-validations") or ()))
        below = schema.get("properties") or {}
        for name, each in (stated.get("properties") or {}).items():
            if found := self.child(each, below.get(name)):
                node.fields[name] = found
        node.values = self.child(stated.get("additionalProperties"), schema.get("additionalProperties"))
        node.items = self.child(stated.get("items"), schema.get("items"))
        branches = (each for each in stated.get("allOf") or () if id(each) in self.bearing)
        node.all_of = [self.build(each, schema, root=root) for each in branches]
        return node

    def child(self, stated: object, schema: object) -> Node | None:
        """Find the rules beneath; values that the schema says nothing of have none."""
        if not isinstance(stated, Mapping) or not isinstance(schema, Mapping) or id(stated) not in self.bearing:
            return None
        root = schema.get("x-kubernetes-embedded-resource") is True
        return None if self.declarations.type(schema, root=root) is None else self.build(stated, schema, root=root)


@lru_cache(maxsize=1024)
def tree(kind: Kind) -> Node | None:
    """Return the rules of a kind, None where it has none."""
    builder = Builder(kind.schema)
    return builder.build(kind.schema, kind.schema, root=True) if builder.bearing else None


def compile_rule(node: Node, rule: Mapping[str, Any], minor: int) -> CompiledRule:
    """Compile one rule of a node."""
    takes_optional = rule.get("optionalOldSelf") is True
    given = node.declarations.type(node.schema, root=node.root)
    assert given is not None
    environment = Environment({"self": given, "oldSelf": optional_of(given) if takes_optional else given}, minor)
    text, expression = rule["rule"].strip(), rule.get("messageExpression") or ""
    shared = {
        "text": text,
        "message": (rule.get("message") or "").strip(),
        "reason": rule.get("reason") or "",
        "path": fieldpath.parse(rule.get("fieldPath") or "", node.schema) or (),
        "takes_optional": takes_optional,
    }
    try:
        program = environment.compile(rule["rule"], BOOL)
    except CompileError as error:
        return CompiledRule(**shared, error=error)
    try:
        message_program = environment.compile(expression, STRING) if expression else None
    except CompileError:
        message_program = None
    return CompiledRule(**shared, program=program, message_program=message_program)
