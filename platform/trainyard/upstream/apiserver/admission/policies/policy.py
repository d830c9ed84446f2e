"""A ValidatingAdmissionPolicy, compiled, and its bindings.

Source: kubernetes/apiserver v0.35.4 pkg/admission/plugin/policy/validating/plugin.go, plugin/cel/composition.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.manifests import mapping
from trainyard.upstream.apiserver.admission.policies.declarations import declare_variables, record, simplify_type
from trainyard.upstream.apiserver.cel import BOOL, DYN, NULL, STRING, CompileError, Environment, Program, Type

Compiled = Program | CompileError
Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Expression:
    """One expression of a policy, where it is written, and what became of it."""

    path: Path
    text: str
    compiled: Compiled


@dataclass(frozen=True, slots=True)
class Validation:
    """One rule of a policy."""

    expression: Expression
    message: str
    message_expression: Expression | None
    reason: str


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy with all its expressions; one that does not compile stays, and fails when it is evaluated."""

    name: str
    spec: Spec
    variables: Mapping[str, Expression]
    conditions: Mapping[str, Expression]
    validations: tuple[Validation, ...]
    annotations: Mapping[str, Expression] = field(default_factory=dict)

    @property
    def fails(self) -> bool:
        """Whether an error of the policy itself refuses a request; else it is ignored."""
        return self.spec.get("failurePolicy") != "Ignore"

    def expressions(self) -> Iterator[Expression]:
        """Yield every expression, in the order of the policy's fields."""
        yield from self.variables.values()
        yield from self.conditions.values()
        for validation in self.validations:
            yield validation.expression
            if validation.message_expression is not None:
                yield validation.message_expression
        yield from self.annotations.values()


@dataclass(frozen=True, slots=True)
class Binding:
    """What puts a policy into effect; without `spec.matchResources` it is so wherever the policy matches."""

    name: str
    policy: str
    spec: Spec

    @property
    def actions(self) -> tuple[str, ...]:
        """What follows from a refusal: Deny, Warn, Audit."""
        return tuple(self.spec.get("validationActions") or ())


def load(value: Mapping[str, Any], *, minor: int, object_type: Type = DYN, params_type: Type = DYN) -> Policy:
    """Compile a ValidatingAdmissionPolicy for a minor release of Kubernetes (35 is 1.35).

    The types are those of the objects it is for; `dyn` is what the server runs it with.
    """
    spec: Spec = mapping(value.get("spec"))
    compiler = Compiler(spec, minor, object_type, params_type)
    return Policy(
        name=str(mapping(value.get("metadata")).get("name") or ""),
        spec=spec,
        variables=compiler.variables(),
        conditions={
            str(condition.get("name")): compiler.condition(path, condition)
            for path, condition in list_entries(spec, "matchConditions")
        },
        validations=tuple(
            compiler.validation(path, validation) for path, validation in list_entries(spec, "validations")
        ),
        annotations={
            str(annotation.get("key")): compiler.expression(
                path, annotation.get("valueExpression"), STRING, NULL, field="valueExpression"
            )
            for path, annotation in list_entries(spec, "auditAnnotations")
        },
    )


def expressions(value: Mapping[str, Any]) -> int:
    """Return how many expressions a policy has, messages included; more than `EXPRESSIONS` are not to be compiled."""
    spec: Spec = mapping(value.get("spec"))
    lists = ("variables", "matchConditions", "validations", "auditAnnotations")
    given = [expression for name in lists for _, expression in list_entries(spec, name)]
    return len(given) + sum("messageExpression" in expression for expression in given)


def load_binding(value: Mapping[str, Any]) -> Binding:
    """Read a ValidatingAdmissionPolicyBinding."""
    spec = mapping(value.get("spec"))
    return Binding(str(mapping(value.get("metadata")).get("name") or ""), str(spec.get("policyName") or ""), spec)


def bound_everywhere(policy: Policy) -> Binding:
    """Bind a policy of our own to whatever it matches."""
    return Binding("", policy.name, {"policyName": policy.name, "validationActions": ["Deny"]})


def list_entries(spec: Spec, key: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the entries of a list of the spec, with their paths in the policy."""
    found = spec.get(key)
    for place, entry in enumerate(found if isinstance(found, list) else []):
        yield ("spec", key, place), mapping(entry)


class Compiler:
    """Compiles the expressions of one policy; variables see those before them."""

    def __init__(self, spec: Spec, minor: int, object_type: Type, params_type: Type) -> None:
        self.spec = spec
        self.fields: dict[str, Type] = {}
        params = params_type if spec.get("paramKind") else None
        known = declare_variables(
            object_type=object_type, params=params, variables=record(self.fields), authorizer=False
        )
        self.plain = Environment(known, minor)
        asking = declare_variables(
            object_type=object_type, params=params, variables=known["variables"], authorizer=True
        )
        self.asking = Environment(asking, minor)
        self.first = Environment({name: type_ for name, type_ in asking.items() if name != "variables"}, minor)

    def variables(self) -> dict[str, Expression]:
        """Compile the variables in their order, each with those before it."""
        found = {}
        for path, variable in list_entries(self.spec, "variables"):
            name = str(variable.get("name"))
            expression = self.expression(path, variable.get("expression"))
            compiled = expression.compiled
            self.fields[name] = simplify_type(compiled.type) if isinstance(compiled, Program) else DYN
            found[name] = expression
        return found

    def expression(
        self,
        path: Path,
        text: object,
        *results: Type,
        field: str = "expression",
        environment: Environment | None = None,
    ) -> Expression:
        """Compile one expression that must be of one of these types."""
        source = text if isinstance(text, str) else ""
        compiled: Compiled
        try:
            compiled = (environment or self.asking).compile(source, *results)
        except CompileError as error:
            compiled = error
        return Expression((*path, field), source, compiled)

    def condition(self, path: Path, given: Mapping[str, Any]) -> Expression:
        """Compile a match condition, which has no variables to refer to."""
        return self.expression(path, given.get("expression"), BOOL, environment=self.first)

    def validation(self, path: Path, given: Mapping[str, Any]) -> Validation:
        """Compile one rule and its message."""
        text = given.get("messageExpression")
        message = None
        if text:
            message = self.expression(path, text, STRING, field="messageExpression", environment=self.plain)
        return Validation(
            expression=self.expression(path, given.get("expression"), BOOL),
            message=str(given.get("message") or "").strip(),
            message_expression=message,
            reason=str(given.get("reason") or "Invalid"),
        )
