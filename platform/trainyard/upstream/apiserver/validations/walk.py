"""The rules that a CRD states in CEL (`x-kubernetes-validations`), on create and update.

A rule is evaluated where its field is present; one that reads `oldSelf` only where there is an old value at the same
place, which fields, map values and elements of map lists have. Rules are compiled when first needed, once a process.
Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/cel/validation.go, compilation.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.catalog.served import Kind
from trainyard.upstream.apiserver.cel import CelError, CompileError, Program, Unknown
from trainyard.upstream.apiserver.cel.alike import first_alike
from trainyard.upstream.apiserver.cel.errors import TooDeepError
from trainyard.upstream.apiserver.cel.program import SPENT, Budget
from trainyard.upstream.apiserver.cel.values import NONE, Optional
from trainyard.upstream.apiserver.problems import UNKNOWN, Path, Problem, Rule
from trainyard.upstream.apiserver.validations.kept import Rulebook
from trainyard.upstream.apiserver.validations.ratchet import Correlation, Counterparts, Schema
from trainyard.upstream.apiserver.validations.rule import CompiledRule
from trainyard.upstream.apiserver.validations.tree import Node, tree

RULE = "cel/rule"
ASKED = Rule(
    RULE,
    "x-kubernetes-validations of the kind's definition",
    title="An object satisfies the CEL rules of its CRD (x-kubernetes-validations).",
    fix="change the field as the message says; the CRD's author wrote the message",
)
MESSAGE_LIMIT = 5120
"""Bytes of an evaluated message: kubernetes/apiserver v0.35.4 pkg/apis/cel/config.go."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A value at its place, with the one before, and whether the update left it alone."""

    value: Any
    old: Any
    path: Path
    correlation: Correlation | None = None
    """How it corresponds to the old value, None where it does not."""
    parent: Correlation | None = None
    """The nearest place above that corresponds."""

    @property
    def forgiven(self) -> bool:
        """Whether a rule that does not compare may fail, because nothing here changed."""
        nearest = self.correlation or self.parent
        return nearest is not None and nearest.same()

    def field(self, name: str, *, correlate: bool) -> Scope:
        """Return the scope of a field or a map's value."""
        old = self.old.get(name) if correlate and isinstance(self.old, dict) else None
        if self.correlation is None:
            return Scope(self.value[name], old, (*self.path, name), None, self.parent)
        if self.parent is None and name in {"apiVersion", "kind"}:
            return Scope(self.value[name], old, (*self.path, name))
        return Scope(self.value[name], old, (*self.path, name), self.correlation.key(name), self.correlation)

    def element(self, place: int, old: Any) -> Scope:
        """Return the scope of a list's element."""
        here = (*self.path, place)
        if self.correlation is None:
            return Scope(self.value[place], old, here, None, self.parent)
        return Scope(self.value[place], old, here, self.correlation.index(place), self.correlation)


def check(
    value: dict[str, Any],
    kind: Kind,
    *,
    kubernetes: str,
    old: dict[str, Any] | None = None,
    rulebook: Rulebook | None = None,
) -> Iterator[Problem]:
    """Yield the findings of a kind's rules in a defaulted object of sound structure; the rulebook remembers rules."""
    since = first_alike(minor(kubernetes))
    node = tree(kind) if rulebook is None else rulebook.tree(kind, since)
    if node is None:
        return
    if kind.status:
        value = with_status_of(value, old)
    correlation = None if old is None else Correlation(without_metadata(node.schema), value, old)
    source = f"{kind.project} {kind.release} {kind.kind} {kind.api_version}, x-kubernetes-validations"
    visit = Visit(since, source)
    yield from visit.node(node, Scope(value, old, (), correlation))
    if visit.budget.left < 0:
        yield Problem((), RULE, SPENT, source)


def with_status_of(value: dict[str, Any], old: dict[str, Any] | None) -> dict[str, Any]:
    """Return an object as the server takes it where status is a subresource: status stays what it was."""
    status = None if old is None else old.get("status")
    return {
        **{key: entry for key, entry in value.items() if key != "status"},
        **({} if status is None else {"status": status}),
    }


def without_metadata(schema: Schema) -> Schema:
    """Return a root's schema as an update is compared by: metadata changes with every write, so a root never stays."""
    return {**schema, "properties": {**(schema.get("properties") or {}), "metadata": {"type": "object"}}}


@dataclass(frozen=True, slots=True)
class Visit:
    """One walk through an object's rules."""

    minor: int
    source: str
    budget: Budget = field(default_factory=Budget)
    telling: Budget = field(default_factory=Budget)
    """What the rules' messages may cost together."""

    def node(self, node: Node, scope: Scope) -> Iterator[Problem]:
        """Evaluate the rules of a node on a value, and those beneath."""
        if scope.value is None or self.budget.left < 0:
            return
        if node.stated:
            yield from self.rules(node, scope)
        for branch in node.all_of.values():
            yield from self.node(branch, Scope(scope.value, scope.old, scope.path, None, scope.parent))
        if isinstance(scope.value, dict):
            correlate = node.schema.get("x-kubernetes-map-type") in {None, "granular", "atomic"}
            for name in scope.value:
                below = node.fields.get(name) or node.values
                if below is not None:
                    yield from self.node(below, scope.field(name, correlate=correlate))
        elif isinstance(scope.value, list) and node.items is not None:
            before = Counterparts(node.schema, scope.old)
            for place, element in enumerate(scope.value):
                yield from self.node(node.items, scope.element(place, before.of(element)))

    def rules(self, node: Node, scope: Scope) -> Iterator[Problem]:
        """Evaluate the rules of one node."""
        bindings = Bindings(node, scope)
        for rule in node.rules(self.minor):
            if rule.error is not None:
                yield self.unusable(rule, rule.error, scope)
            elif rule.program is not None and (scope.old is not None or rule.takes_optional or not rule.reads_old):
                found = rule.program.evaluate(bindings.of(rule.program, optional=rule.takes_optional), self.budget)
                if found is not True:
                    yield from self.broken(rule, found, bindings)

    def unusable(self, rule: CompiledRule, error: CompileError, scope: Scope) -> Problem:
        """Report a rule that does not compile, or that cannot be read here."""
        if isinstance(error, TooDeepError):
            return Problem(scope.path, UNKNOWN, f"the CEL rule cannot be evaluated: it is {error}", self.source)
        return ASKED.of_source(self.source).invalid(scope.path, rule.text, f"rule compile error: {error}")

    def broken(self, rule: CompiledRule, found: Any, bindings: Bindings) -> Iterator[Problem]:
        """Report a rule that is false, or fails."""
        scope = bindings.scope
        shown = rule.message or rule.text
        if isinstance(found, Unknown):
            yield Problem(
                scope.path, UNKNOWN, f"the CEL rule cannot be evaluated without {found.message}: {shown}", self.source
            )
        elif isinstance(found, CelError):
            yield self.invalid(scope.path, scope.value, f"{found.message} evaluating rule: {shown}")
        elif rule.reads_old or not scope.forgiven:
            message = self.evaluated(rule, bindings) or rule.message or f"failed rule: {rule.text}"
            yield self.problem(rule.reason, (*scope.path, *rule.path), scope.value, message)

    def evaluated(self, rule: CompiledRule, bindings: Bindings) -> str:
        """Return the text of the rule's messageExpression, empty where it gives no one-line text."""
        if rule.message_program is None or self.telling.left < 0:
            return ""
        found = rule.message_program.evaluate(bindings.of(rule.message_program, optional=False), self.telling)
        text = found.strip() if isinstance(found, str) else ""
        return "" if "\n" in text or len(text.encode()) > MESSAGE_LIMIT else text

    def problem(self, reason: str, path: Path, value: Any, message: str) -> Problem:
        """Report in the form that the rule's reason asks for."""
        rule = ASKED.of_source(self.source)
        if reason == "FieldValueForbidden":
            return rule.forbidden(path, message)
        if reason == "FieldValueRequired":
            return rule.required(path, message)
        if reason == "FieldValueDuplicate":
            compound = isinstance(value, dict | list)
            return Problem(path, RULE, "duplicate value", self.source) if compound else rule.duplicate(path, value)
        return self.invalid(path, value, message)

    def invalid(self, path: Path, value: Any, message: str) -> Problem:
        """Report an invalid value; objects and lists are not shown."""
        if isinstance(value, dict | list):
            return Problem(path, RULE, f"invalid value: {message}", self.source)
        return ASKED.of_source(self.source).invalid(path, value, message)


class Bindings:
    """The variables of a node's rules; values are converted once, and only if a rule needs that."""

    def __init__(self, node: Node, scope: Scope) -> None:
        self.node = node
        self.scope = scope
        self.converted: dict[str, Any] | None = None

    def of(self, program: Program, *, optional: bool) -> dict[str, Any]:
        """Return `self` and `oldSelf` for one program."""
        found = {"self": self.scope.value, "oldSelf": self.scope.old}
        if not program.plain:
            if self.converted is None:
                self.converted = {name: self.node.convert(binding) for name, binding in found.items()}
            found = self.converted
        if optional:
            return {**found, "oldSelf": NONE if found["oldSelf"] is None else Optional(found["oldSelf"])}
        return found
