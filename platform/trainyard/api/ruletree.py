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

    @property
    def is_empty(self) -> bool:
        """Whether there is no rule here nor beneath."""
        return not (self.stated or self.fields or self.values or self.items or self.all_of)


def build(stated: Schema, schema: Schema, declarations: Declarations, *, root: bool) -> Node | None:
    """Find the rules that `stated` has for values of `schema`: the same, or a branch of its `allOf`."""
    found = Node(
        schema=schema,
        declarations=declarations,
        root=root,
        stated=list(stated.get("x-kubernetes-validations") or ()),
    )
    for name, each in (stated.get("properties") or {}).items():
        if below := child(each, (schema.get("properties") or {}).get(name), declarations):
            found.fields[name] = below
    found.values = child(stated.get("additionalProperties"), schema.get("additionalProperties"), declarations)
    found.items = child(stated.get("items"), schema.get("items"), declarations)
    branches = (build(each, schema, declarations, root=root) for each in stated.get("allOf") or ())
    found.all_of = [branch for branch in branches if branch]
    return None if found.is_empty else found


def child(stated: object, schema: object, declarations: Declarations) -> Node | None:
    """Find the rules beneath; values that the schema says nothing of have none."""
    if not isinstance(stated, Mapping) or not isinstance(schema, Mapping) or not states_rules(stated):
        return None
    root = schema.get("x-kubernetes-embedded-resource") is True
    return None if declarations.type(schema, root=root) is None else build(stated, schema, declarations, root=root)


def states_rules(schema: Mapping[str, Any]) -> bool:
    """Whether a schema has a rule anywhere."""
    if schema.get("x-kubernetes-validations"):
        return True
    below = [*(schema.get("properties") or {}).values(), *(schema.get("allOf") or ())]
    below += [schema.get("items"), schema.get("additionalProperties")]
    return any(isinstance(each, Mapping) and states_rules(each) for each in below)


@lru_cache(maxsize=1024)
def tree(kind: Kind) -> Node | None:
    """Return the rules of a kind, None where it has none."""
    return build(kind.schema, kind.schema, Declarations(), root=True)


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
