"""The rules that a schema states in CEL, as a tree: what `walk` evaluates, and how it is kept as plain data.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/cel/validation.go, compilation.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from trainyard.apiserver.catalog.served import Kind
from trainyard.apiserver.cel import BOOL, STRING, CompileError, Program
from trainyard.apiserver.cel.errors import Issue, TooDeepError
from trainyard.apiserver.problems import Path
from trainyard.apiserver.validations.ratchet import Schema

if TYPE_CHECKING:
    from trainyard.apiserver.cel.declare import Declarations

Kept = dict[str, Any]
"""A tree as JSON has it, for one minor release: what is not compiled yet has no rules."""


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

    def kept(self) -> Kept:
        """Return what `restored` needs, as JSON has it."""
        programs = {"program": self.program, "message_program": self.message_program}
        return {
            **{name: getattr(self, name) for name in ("text", "message", "reason", "takes_optional")},
            "path": [*self.path],
            **{name: each and each.kept() for name, each in programs.items()},
            "error": self.error and [isinstance(self.error, TooDeepError), str(self.error)],
        }

    @classmethod
    def restored(cls, kept: Kept) -> CompiledRule:
        """Return a rule that was kept; raises KeyError, TypeError or ValueError for anything else."""
        error, message = kept["error"], kept["message_program"]
        return cls(
            **{name: kept[name] for name in ("text", "message", "reason", "takes_optional")},
            path=tuple(kept["path"]),
            program=kept["program"] and Program.restored(kept["program"], BOOL),
            message_program=message and Program.restored(message, STRING),
            error=error and (TooDeepError if error[0] else CompileError)(kept["text"], [Issue(error[1])]),
        )


class Shared:
    """What the nodes of one schema have in common; types and converters are found when first needed."""

    def __init__(self) -> None:
        self.changed = True
        """Whether a tree says more than what was kept of it."""

    @cached_property
    def declarations(self) -> Declarations:
        """The types and converters of the schema."""
        from trainyard.apiserver.cel.declare import Declarations

        return Declarations()


@dataclass(slots=True)
class Node:
    """The rules of one node of a schema, and the nodes beneath that have any."""

    schema: Schema
    shared: Shared
    root: bool
    stated: list[Mapping[str, Any]]
    fields: dict[str, Node] = field(default_factory=dict)
    values: Node | None = None
    items: Node | None = None
    all_of: dict[int, Node] = field(default_factory=dict)
    """By their places in the schema's `allOf`."""
    compiled: dict[int, list[CompiledRule]] = field(default_factory=dict)

    def rules(self, minor: int) -> list[CompiledRule]:
        """Return the node's own rules, compiled for a minor release of Kubernetes.

        A node of a type that no server knows has none: its definition is refused for that type.
        """
        if minor not in self.compiled:
            from trainyard.apiserver.validations.compile import compile_rule

            typed = self.shared.declarations.type(self.schema, root=self.root) is not None
            self.compiled[minor] = [
                compile_rule(self, rule, minor) for rule in self.stated if typed and rule.get("rule", "").strip()
            ]
            self.shared.changed = True
        return self.compiled[minor]

    def convert(self, value: Any) -> Any:
        """Return a value as CEL sees it."""
        found = self.shared.declarations.convert(self.schema)
        return value if found is None or value is None else found(value)

    def kept(self, minor: int) -> Kept:
        """Return what `restored` needs, as JSON has it."""
        rules = self.compiled.get(minor)
        return {
            "rules": rules and [each.kept() for each in rules],
            "fields": {name: each.kept(minor) for name, each in self.fields.items()},
            "values": self.values and self.values.kept(minor),
            "items": self.items and self.items.kept(minor),
            "all_of": {str(place): each.kept(minor) for place, each in self.all_of.items()},
        }


def restored(kept: Kept, schema: Schema, minor: int) -> Node:
    """Return the tree of a schema that was kept; raises KeyError, TypeError or ValueError for anything else."""
    shared = Shared()
    shared.changed = False

    def node(kept: Kept, stated: Schema, schema: Schema, *, root: bool) -> Node:
        found = Node(schema, shared, root, list(stated.get("x-kubernetes-validations") or ()))
        if kept["rules"] is not None:
            found.compiled[minor] = [CompiledRule.restored(each) for each in kept["rules"]]
        for name, each in kept["fields"].items():
            found.fields[name] = child(each, stated["properties"][name], schema["properties"][name])
        for key, below in (("values", "additionalProperties"), ("items", "items")):
            if kept[key] is not None:
                setattr(found, key, child(kept[key], stated[below], schema[below]))
        for place, each in kept["all_of"].items():
            found.all_of[int(place)] = node(each, stated["allOf"][int(place)], schema, root=root)
        return found

    def child(kept: Kept, stated: Schema, schema: Schema) -> Node:
        return node(kept, stated, schema, root=schema.get("x-kubernetes-embedded-resource") is True)

    return node(kept, schema, schema, root=True)


class Builder:
    """Finds the rules of one schema."""

    def __init__(self, schema: Schema) -> None:
        self.shared = Shared()
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
        node = Node(schema, self.shared, root, list(stated.get("x-kubernetes-validations") or ()))
        below = schema.get("properties") or {}
        for name, each in (stated.get("properties") or {}).items():
            if found := self.child(each, below.get(name)):
                node.fields[name] = found
        node.values = self.child(stated.get("additionalProperties"), schema.get("additionalProperties"))
        node.items = self.child(stated.get("items"), schema.get("items"))
        for place, each in enumerate(stated.get("allOf") or ()):
            if id(each) in self.bearing:
                node.all_of[place] = self.build(each, schema, root=root)
        return node

    def child(self, stated: object, schema: object) -> Node | None:
        """Find the rules beneath; values that the schema says nothing of have none."""
        if not isinstance(stated, Mapping) or not isinstance(schema, Mapping) or id(stated) not in self.bearing:
            return None
        root = schema.get("x-kubernetes-embedded-resource") is True
        return (
            None if self.shared.declarations.type(schema, root=root) is None else self.build(stated, schema, root=root)
        )


@lru_cache(maxsize=1024)
def tree(kind: Kind) -> Node | None:
    """Find the rules of a kind, None where it has none."""
    builder = Builder(kind.schema)
    return builder.build(kind.schema, kind.schema, root=True) if builder.bearing else None
