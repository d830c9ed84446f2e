"""Operators that choose what is evaluated: `&&`, `||`, `?:`, `or`, `orValue`; and how errors are absorbed.

`false && error` is false, on either side, and so are `all` and `exists` over elements some of which fail.
Source: google/cel-go v0.26.0 interpreter/interpretable.go, cel/decls.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from trainyard.upstream.apiserver.cel.errors import CelError, Unknown, no_such_overload
from trainyard.upstream.apiserver.cel.values import Optional

Frame: TypeAlias = list[Any]
"""What one evaluation works on: the budget that is left, the variables, and the local names."""

Run: TypeAlias = Callable[[Frame], Any]

BUDGET = 0
"""Slot of a frame that holds what is left of the evaluation's cost."""


class BudgetError(Exception):
    """An evaluation costs more than the server allows; no failure of the expression, so nothing absorbs it."""


def take(frame: Frame, cost: int) -> None:
    """Take a cost off what is left; raises BudgetError where that is not enough."""
    frame[BUDGET] -= cost
    if frame[BUDGET] < 0:
        raise BudgetError


def worse(one: CelError | None, two: CelError) -> CelError:
    """Return which of two failures the result is: what is unknown weighs more than an error, then the first."""
    if one is None or (isinstance(two, Unknown) and not isinstance(one, Unknown)):
        return two
    return one


def boolean(value: Any) -> bool:
    """Return a value that must be a bool."""
    if value is True or value is False:
        return bool(value)
    raise no_such_overload()


def junction(left: Run, right: Run, *, decisive: bool) -> Run:
    """Build `||` where true decides, `&&` where false does."""
    neutral = not decisive

    def run(frame: Frame) -> bool:
        failure: CelError | None = None
        try:
            first = left(frame)
            if first is decisive:
                return not neutral
            if first is not neutral:
                failure = no_such_overload()
        except CelError as error:
            failure = error
        if failure is None:
            return boolean(right(frame))
        try:
            second = right(frame)
        except CelError as error:
            raise worse(failure, error) from None
        if second is decisive:
            return not neutral
        raise failure

    return run


def conditional(condition: Run, then: Run, otherwise: Run) -> Run:
    """Build `condition ? then : otherwise`."""

    def run(frame: Frame) -> Any:
        return then(frame) if boolean(condition(frame)) else otherwise(frame)

    return run


def negation(operand: Run) -> Run:
    """Build `!operand`."""
    return lambda frame: not boolean(operand(frame))


def alternative(optional: Run, default: Run, *, unwrap: bool) -> Run:
    """Build `optional.orValue(default)`, or `optional.or(default)` where the result stays an optional."""

    def run(frame: Frame) -> Any:
        value = optional(frame)
        if not isinstance(value, Optional):
            raise no_such_overload()
        if not value.present:
            return default(frame)
        return value.value if unwrap else value

    return run
