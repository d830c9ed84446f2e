"""CEL expressions in core objects: match conditions of webhooks, and selectors of devices.

What an expression may cost is not estimated. Source: k8s.io/kubernetes v1.35.4
pkg/apis/admissionregistration/validation/validation.go validateMatchConditionsExpression and
k8s.io/dynamic-resource-allocation v0.35.4 cel/compile.go.
"""

from __future__ import annotations

from functools import cache

from trainyard.upstream.apiserver.admission.policies.declarations import declare_variables, record
from trainyard.upstream.apiserver.cel import BOOL, DYN, STRING, CompileError, Environment, map_of
from trainyard.upstream.apiserver.cel.library.quantity import QUANTITY
from trainyard.upstream.apiserver.cel.types import Type, opaque

CONSUMABLE_MINOR = 36
"""From here on a selector may read `allowMultipleAllocations` (gate DRAConsumableCapacity)."""


@cache
def requests(minor: int) -> Environment:
    """Return the environment of a webhook's match conditions in a release."""
    known = declare_variables(params=None, variables=DYN, authorizer=True)
    del known["variables"]
    return Environment(known, _library(minor))


@cache
def devices(minor: int) -> Environment:
    """Return the environment of a device's selectors in a release."""
    fields: dict[str, Type] = {
        "driver": STRING,
        "attributes": map_of(STRING, map_of(STRING, DYN)),
        "capacity": map_of(STRING, map_of(STRING, opaque(QUANTITY))),
    }
    if minor >= CONSUMABLE_MINOR:
        fields["allowMultipleAllocations"] = BOOL
    return Environment({"device": record(fields)}, _library(minor))


def _library(minor: int) -> int:
    """Return the release whose functions new expressions may use: the one before, so that a rollback keeps them."""
    return minor - 1


def compile_error(environment: Environment, expression: str, *kinds: str) -> str | None:
    """Return why an expression does not compile, or is none of these kinds of values."""
    try:
        program = environment.compile(expression)
    except CompileError as error:
        return f"compilation failed: {error}"
    return None if program.type.kind in kinds else f"must evaluate to {' or '.join(kinds)}, not {program.type}"
