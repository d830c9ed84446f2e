"""The CEL rules of a schema's node: how they are stated, and whether they compile.

Source: k8s.io/apiextensions-apiserver v0.35.4
pkg/apis/apiextensions/validation/validation.go ValidateCustomResourceDefinitionOpenAPISchema and
pkg/apiserver/schema/cel/compilation.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.upstream.apiserver.cel import (
    BOOL,
    STRING,
    CompileError,
    Environment,
    Program,
    Type,
    fieldpath,
    optional_of,
)
from trainyard.upstream.apiserver.cel.declare import Declarations
from trainyard.upstream.apiserver.core.apiextensions.costs import Costs
from trainyard.upstream.apiserver.core.apiextensions.nodes import RULES, is_convertible
from trainyard.upstream.apiserver.core.shapes import Object, each, text
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

STATED = Rule(
    "core/crd-rule",
    "k8s.io/apiextensions-apiserver v0.35.4 pkg/apis/apiextensions/validation/validation.go",
    title="CEL rules in a CustomResourceDefinition compile and have a usable message.",
    fix="correct the expression, or the message, fieldPath or reason of the rule",
)
COMPILED = STATED.of_source("k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/cel/compilation.go Compile")
REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_has_line_breaks = re.compile("[\n\r]").search


@dataclass(frozen=True, slots=True)
class Environments:
    """What the rules of one schema are compiled in: its types, and the functions that a release takes in new rules."""

    declarations: Declarations
    minor: int

    def of(self, given: Type, *, takes_optional: bool) -> Environment:
        """Return the environment of a rule on values of a type; new rules get the functions of the release before."""
        variables = {"self": given, "oldSelf": optional_of(given) if takes_optional else given}
        return Environment(variables, self.minor - 1)


def check_stated(schema: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with rules before they are compiled."""
    for index, rule in each(schema, RULES):
        at = (*path, RULES, index)
        yield from _check_texts(rule, at)
        reason, where = rule.get("reason"), text(rule, "fieldPath")
        if reason is not None and reason not in REASONS:
            yield STATED.unsupported((*at, "reason"), reason, REASONS)
        if _has_line_breaks(where):
            yield STATED.invalid((*at, "fieldPath"), where, "must not contain line breaks")
        elif where and is_convertible(schema) and fieldpath.parse(where, schema) is None:
            yield STATED.invalid((*at, "fieldPath"), where, "must be a valid path to a field of the schema")


def _check_texts(rule: Object, path: Path) -> Iterator[Problem]:
    expression, message = text(rule, "rule").strip(), text(rule, "message")
    if not expression:
        if not rule.get("rule") or text(rule, "rule"):
            yield STATED.required((*path, "rule"))
    elif message and not message.strip():
        yield STATED.invalid((*path, "message"), message, "must be non-empty if specified")
    elif _has_line_breaks(message.strip()):
        yield STATED.invalid((*path, "message"), message, "must not contain line breaks")
    elif _has_line_breaks(expression) and not message:
        yield STATED.required((*path, "message"), "must be specified if the rule contains line breaks")
    if text(rule, "messageExpression") and not text(rule, "messageExpression").strip():
        yield STATED.required((*path, "messageExpression"), "must be non-empty if specified")


def check_rules(
    costs: Costs, converted: Object, path: Path, environments: Environments, *, uncorrelated: bool
) -> Iterator[Problem]:
    """Yield the rules of a node that do not compile, cost too much, or look for an old value that cannot be found."""
    if not (rules := each(costs.schema, RULES)):
        return
    given = environments.declarations.type(converted, root=costs.root)
    if given is None:
        yield COMPILED.invalid((*path, RULES), len(rules), "a schema without types can have no rules")
        return
    for index, rule in rules:
        at = (*path, RULES, index)
        optional = rule.get("optionalOldSelf")
        environment = environments.of(given, takes_optional=optional is True)
        program = _compile(environment, rule["rule"], BOOL)
        reads_old = isinstance(program, Program) and "oldSelf" in program.variables
        if isinstance(program, CompileError):
            yield COMPILED.invalid((*at, "rule"), rule["rule"], f"compilation failed: {program}")
        elif reads_old and uncorrelated:
            yield COMPILED.invalid((*at, "rule"), rule["rule"], "oldSelf cannot be used within a list that is no map")
        if not reads_old and optional is not None:
            yield COMPILED.invalid(
                (*at, "optionalOldSelf"), optional, "may not be set if the rule does not use oldSelf"
            )
        if message := text(rule, "messageExpression"):
            compiled = _compile(environment, message, STRING)
            if isinstance(compiled, CompileError):
                yield COMPILED.invalid((*at, "messageExpression"), message, f"compilation failed: {compiled}")
        if isinstance(program, Program):
            yield from costs.check(environment, rule, at)


def _compile(environment: Environment, expression: str, result: Type) -> Program | CompileError:
    try:
        return environment.compile(expression, result)
    except CompileError as error:
        return error
