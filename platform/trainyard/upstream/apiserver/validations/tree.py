"""The rules that a schema states in CEL, as a tree: what `walk` evaluates, and how it is kept as plain data.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/cel/validation.go, compilation.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from trainyard.upstream.apiserver.catalog.served import Kind
from trainyard.upstream.apiserver.validations.ratchet import Schema
from trainyard.upstream.apiserver.validations.rule import CompiledRule, Kept

if TYPE_CHECKING:
    from trainyard.upstream.apiserver.cel.declare import Declarations


class Shared:
    """What the nodes of one schema have in common; types and converters are found when first needed."""

    def __init__(self) -> None:
        self.changed = True
        """Whether a tree says more than what was kept of it."""

    @cached_property
    def declarations(self) -> Declarations:
        """The types and converters of the schema."""
        from trainyard.upstream.apiserver.cel.declare import Declarations

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
            from trainyard.upstream.apiserver.validations.compile import compile_rule

            given = self.shared.declarations.type(self.schema, root=self.root)
            self.compiled[minor] = [
                compile_rule(rule, given, self.schema, minor)
                for rule in self.stated
                if given is not None and rule.get("rule", "").strip()
            ]
            self.shared.changed = True
        return self.compiled[minor]

    def convert(self, value: Any) -> Any:
        """Return a value as CEL sees it."""
        found = self.shared.declarations.convert(self.schema)
        return value if found is None or value is None else found(value)

    def kept(self, minor: int) -> Kept:
        """Return the parts that `restored` needs, as JSON has them."""
        rules = self.compiled.get(minor)
        return {
            "rules": rules and [rule.kept() for rule in rules],
            "fields": {name: node.kept(minor) for name, node in self.fields.items()},
            "values": self.values and self.values.kept(minor),
            "items": self.items and self.items.kept(minor),
            "all_of": {str(place): node.kept(minor) for place, node in self.all_of.items()},
        }


def restore_tree(kept: Kept, schema: Schema, minor: int) -> Node:
    """Return the tree of a schema that was kept; raises KeyError, TypeError or ValueError for anything else."""
    shared = Shared()
    shared.changed = False

    def node(kept: Kept, stated: Schema, schema: Schema, *, root: bool) -> Node:
        found = Node(schema, shared, root, list(stated.get("x-kubernetes-validations") or ()))
        if kept["rules"] is not None:
            found.compiled[minor] = [CompiledRule.restored(rule) for rule in kept["rules"]]
        for name, one_field in kept["fields"].items():
            found.fields[name] = child(one_field, stated["properties"][name], schema["properties"][name])
        for key, below in (("values", "additionalProperties"), ("items", "items")):
            if kept[key] is not None:
                setattr(found, key, child(kept[key], stated[below], schema[below]))
        for place, entry in kept["all_of"].items():
            found.all_of[int(place)] = node(entry, stated["allOf"][int(place)], schema, root=root)
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
            for property_ in properties.values():
                bears = self.mark(property_) or bears
        for key in ("items", "additionalProperties"):
            below = schema.get(key)
            if isinstance(below, Mapping):
                bears = self.mark(below) or bears
        for branch in schema.get("allOf") or ():
            bears = self.mark(branch) or bears
        if bears:
            self.bearing.add(id(schema))
        return bears

    def build(self, stated: Schema, schema: Schema, *, root: bool) -> Node:
        """Find the rules that `stated` has for values of `schema`: the same, or a branch of its `allOf`."""
        node = Node(schema, self.shared, root, list(stated.get("x-kubernetes-validations") or ()))
        below = schema.get("properties") or {}
        for name, property_ in (stated.get("properties") or {}).items():
            if found := self.child(property_, below.get(name)):
                node.fields[name] = found
        node.values = self.child(stated.get("additionalProperties"), schema.get("additionalProperties"))
        node.items = self.child(stated.get("items"), schema.get("items"))
        for place, branch in enumerate(stated.get("allOf") or ()):
            if id(branch) in self.bearing:
                node.all_of[place] = self.build(branch, schema, root=root)
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
