"""Runs admission policies on a request: what is refused, what is warned of, and what cannot be told.

Source: kubernetes/apiserver v0.35.4 pkg/admission/plugin/policy/validating/dispatcher.go, validator.go;
plugin/webhook/matchconditions/matcher.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from trainyard.base.documents import Path
from trainyard.upstream.apiserver.admission.policies import matching, params
from trainyard.upstream.apiserver.admission.policies.policy import Binding, Expression, Policy, Validation
from trainyard.upstream.apiserver.admission.policies.request import (
    Object,
    Request,
    Resource,
    Surroundings,
    as_admitted,
    request_object,
)
from trainyard.upstream.apiserver.cel import CelError, Program, Unknown
from trainyard.upstream.apiserver.cel.logic import BudgetError
from trainyard.upstream.apiserver.cel.program import CONDITIONS, SPENT, Budget

Action = Literal["Deny", "Warn", "Audit", "Unknown"]
ACTIONS: dict[str, Action] = {"Deny": "Deny", "Warn": "Warn", "Audit": "Audit"}
"""What a binding may ask for."""

MESSAGE_LIMIT = 5120
"""Bytes of an evaluated message: kubernetes/apiserver v0.35.4 pkg/apis/cel/config.go."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy says of a request; `path` leads to the part of the object that breaks the rule, where it shows."""

    policy: Policy
    binding: Binding
    action: Action
    message: str
    reason: str = "Invalid"
    path: Path = ()


class Variables(dict[str, Any]):
    """The variables of a policy, each evaluated when it is first read."""

    def __init__(self, policy: Policy, bindings: Mapping[str, Any], budget: Budget) -> None:
        super().__init__()
        self.expressions = policy.variables
        self.bindings = bindings
        self.budget = budget

    def __contains__(self, name: object) -> bool:
        return name in self.expressions

    def __missing__(self, name: str) -> Any:
        expression = self.expressions.get(name)
        if expression is None:
            raise KeyError(name)
        if not isinstance(expression.compiled, Program):
            raise CelError(f'composited variable "{name}" fails to compile: {expression.compiled}')
        value = expression.compiled.evaluate(self.bindings, self.budget)
        if self.budget.left < 0:
            raise BudgetError
        if isinstance(value, Unknown):
            raise value
        if isinstance(value, CelError):
            raise CelError(f'composited variable "{name}" fails to evaluate: {value.message}')
        self[name] = value
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """Return a variable's value."""
        return self[name] if name in self.expressions else default


def judge(
    policies: Iterable[tuple[Policy, Iterable[Binding]]], request: Request, around: Surroundings
) -> Iterator[Decision]:
    """Run policies with their bindings on a request, and yield what is not plainly admitted."""
    if matching.is_exempt(request.resource):
        return
    for policy, bindings in policies:
        found = matching.match(policy.spec.get("matchConstraints") or {}, request, around)
        if found is None:
            continue
        for binding in bindings:
            bound = matching.match(binding.spec.get("matchResources") or {}, request, around)
            if bound is not None:
                doubt = found.doubt or bound.doubt
                yield from Run(policy, binding, request, around, doubt).decisions(found.resource)


@dataclass(frozen=True, slots=True)
class Run:
    """One policy with one binding on one request; `doubt` says on what it depends whether it applies at all."""

    policy: Policy
    binding: Binding
    request: Request
    around: Surroundings
    doubt: str | None = None

    def decisions(self, matched: Resource) -> Iterator[Decision]:
        """Evaluate the policy once for each of its parameter objects."""
        request = matching.convert_request(self.request, matched)
        if request is None:
            yield self.decision("Unknown", f"the object in version {matched.version} is known only to the server")
            return
        try:
            found = params.collect(
                self.policy.spec.get("paramKind"), self.binding.spec.get("paramRef"), request, self.around
            )
        except CelError as error:
            yield from self.refused(f"failed to configure binding: {error.message}")
            return
        for policy in found:
            bindings = self.bindings(request, matched, policy)
            if isinstance(policy, Unknown) and len(found) == 1:
                yield from self.presumed(bindings, policy.message)
            else:
                yield from self.evaluated(bindings)

    def presumed(self, bindings: dict[str, Any], missing: str) -> Iterator[Decision]:
        """Evaluate with parameters of which it is not known whether there are any."""
        ref = self.binding.spec.get("paramRef") or {}
        if ref.get("parameterNotFoundAction") != "Deny":
            yield from replace(self, doubt=self.doubt or missing).evaluated(bindings)
            return
        found = list(self.evaluated(bindings))
        yield from found
        if self.policy.fails and not found:
            yield self.decision(
                "Unknown", f"cannot be checked without {missing}; the policy refuses the object if there are none"
            )

    def bindings(self, request: Request, matched: Resource, param: Object | Unknown | None) -> dict[str, Any]:
        """Return the variables that expressions refer to."""
        name = request.namespace
        return {
            "object": as_admitted(request.object, request),
            "oldObject": as_admitted(request.old, request),
            "namespaceObject": self.namespace(name) if name and not request.resource.is_namespaces else None,
            "request": request_object(self.request, matched),
            "params": param,
            "authorizer": Unknown("the authorizer"),
            "authorizer.requestResource": Unknown("the authorizer"),
        }

    def namespace(self, name: str) -> Object | Unknown:
        """Return the request's namespace, as far as it is known."""
        return self.around.namespace(name) or Unknown(f"namespace {name!r}")

    def evaluated(self, bindings: dict[str, Any]) -> Iterator[Decision]:
        """Evaluate conditions, then validations, then annotations."""
        doubt = self.doubt
        matched = self.conditions({**bindings, "namespaceObject": None})
        if isinstance(matched, Unknown):
            doubt = doubt or matched.message
        elif isinstance(matched, CelError):
            yield from self.refused(matched.message)
            return
        elif not matched:
            return
        run = self if doubt is None else Run(self.policy, self.binding, self.request, self.around, doubt)
        budget, telling = Budget(), Budget()
        known = with_variables(self.policy, bindings, budget)
        for validation in self.policy.validations:
            yield from run.validated(validation, known, budget, telling)
            if budget.left < 0:
                yield from run.refused(SPENT)
                return

    def conditions(self, bindings: dict[str, Any]) -> bool | CelError:
        """Say whether the match conditions hold: a false one decides, else an unknown one, else an error."""
        failure: CelError | None = None
        budget = Budget(CONDITIONS)
        known = with_variables(self.policy, bindings, budget)
        for expression in self.policy.conditions.values():
            found = value_of(expression, known, budget)
            if budget.left < 0:
                return CelError(SPENT) if self.policy.fails else False
            if found is False:
                return False
            if isinstance(found, CelError) and not isinstance(failure, Unknown):
                failure = found if failure is None or isinstance(found, Unknown) else failure
        if failure is None or isinstance(failure, Unknown):
            return True if failure is None else failure
        return failure if self.policy.fails else False

    def validated(
        self, validation: Validation, bindings: dict[str, Any], budget: Budget, telling: Budget
    ) -> Iterator[Decision]:
        """Evaluate one rule; `telling` is the budget of messages, and of looking for what breaks the rule."""
        found = value_of(validation.expression, bindings, budget)
        if found is True:
            return
        if isinstance(found, Unknown):
            yield self.decision("Unknown", f"cannot be checked without {found.message}: {self.stated(validation)}")
        elif isinstance(found, CelError):
            yield from self.refused(found.message)
        else:
            message = self.evaluated_message(validation, bindings, telling) or self.stated(validation)
            yield from self.acted(message, validation.reason, self.place(validation, bindings, telling))

    def stated(self, validation: Validation) -> str:
        """Return the message as the policy writes it, the expression where it writes none."""
        return validation.message or f"failed expression: {validation.expression.text.strip()}"

    def evaluated_message(self, validation: Validation, bindings: dict[str, Any], budget: Budget) -> str:
        """Return the text of messageExpression, empty where it gives no one-line text."""
        if validation.message_expression is None or budget.left < 0:
            return ""
        found = value_of(validation.message_expression, bindings, budget)
        text = found.strip() if isinstance(found, str) else ""
        return "" if "\n" in text or len(text.encode()) > MESSAGE_LIMIT else text

    def place(self, validation: Validation, bindings: dict[str, Any], budget: Budget) -> Path:
        """Return where the object breaks the rule, its root where that does not show."""
        compiled = validation.expression.compiled
        culprit = compiled.culprit(bindings, budget) if isinstance(compiled, Program) else None
        return (culprit.path(bindings["object"]) if culprit else None) or ()

    def refused(self, message: str) -> Iterator[Decision]:
        """Refuse for an error of the policy itself, if it says that errors refuse."""
        if self.policy.fails:
            yield from self.acted(message, "Invalid", ())

    def acted(self, message: str, reason: str, path: Path) -> Iterator[Decision]:
        """Do what the binding says on a refusal, once for each of its actions."""
        for action in self.binding.actions:
            if self.doubt is not None and action != "Audit":
                yield self.decision("Unknown", f"may apply, depending on {self.doubt}: {message}", path)
            elif action in ACTIONS:
                yield Decision(self.policy, self.binding, ACTIONS[action], message, reason, path)

    def decision(self, action: Action, message: str, path: Path = ()) -> Decision:
        """Decide for this policy and binding."""
        return Decision(self.policy, self.binding, action, message, path=path)


def with_variables(policy: Policy, bindings: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Add `variables`, which see the same bindings; what they cost is the expressions' that read them, as on a server.

    Source: kubernetes/apiserver v0.35.4 pkg/admission/plugin/cel/activation.go Evaluate.
    """
    known = dict(bindings)
    known["variables"] = Variables(policy, known, budget)
    return known


def value_of(expression: Expression, bindings: Mapping[str, Any], budget: Budget) -> Any:
    """Evaluate an expression; one that does not compile, or fails, gives an error in the server's words."""
    if not isinstance(expression.compiled, Program):
        return CelError(f"expression '{expression.text}' resulted in error: compilation failed: {expression.compiled}")
    found = expression.compiled.evaluate(bindings, budget)
    if isinstance(found, CelError) and not isinstance(found, Unknown):
        return CelError(f"expression '{expression.text}' resulted in error: {found.message}")
    return found
