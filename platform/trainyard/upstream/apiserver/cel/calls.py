"""Calling a function: straight where types are known at compile time, else by the values.

Source: google/cel-go v0.26.0 common/decls/decls.go (matchesRuntimeSignature).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trainyard.upstream.apiserver.cel.errors import no_such_overload
from trainyard.upstream.apiserver.cel.functions import Overload
from trainyard.upstream.apiserver.cel.logic import Frame, Run, take
from trainyard.upstream.apiserver.cel.spent import Price


def direct(function: Callable[..., Any], arguments: Sequence[Run]) -> Run:
    """Call a function whose arguments are known to be of its types."""
    if len(arguments) == 1:
        (only,) = arguments
        return lambda frame: function(only(frame))
    if len(arguments) == 2:
        first, second = arguments
        return lambda frame: function(first(frame), second(frame))
    return lambda frame: function(*[argument(frame) for argument in arguments])


def dispatch_overloads(overloads: Sequence[Overload], prices: Sequence[Price | None], arguments: Sequence[Run]) -> Run:
    """Call the first form that takes the values, and take what that costs first."""
    priced = list(zip(overloads, prices, strict=True))
    if len(arguments) == 1:
        return dispatched_by_one([(*overload.tests, overload.run, price) for overload, price in priced], *arguments)
    if len(arguments) == 2:
        return dispatched_by_two([(*overload.tests, overload.run, price) for overload, price in priced], *arguments)

    def run(frame: Frame) -> Any:
        given = [argument(frame) for argument in arguments]
        for overload, price in priced:
            if overload.takes(given):
                if price is not None:
                    take(frame, price(*given))
                return overload.run(*given)
        raise no_such_overload()

    return run


def dispatched_by_one(forms: Sequence[Any], argument: Run) -> Run:
    """Call the first form that takes the value; a form is a test, a function and its price."""

    def run(frame: Frame) -> Any:
        value = argument(frame)
        for test, function, price in forms:
            if test(value):
                if price is not None:
                    take(frame, price(value))
                return function(value)
        raise no_such_overload()

    return run


def dispatched_by_two(forms: Sequence[Any], left: Run, right: Run) -> Run:
    """Call the first form that takes both values; a form is two tests, a function and its price."""

    def run(frame: Frame) -> Any:
        one, two = left(frame), right(frame)
        for first, second, function, price in forms:
            if first(one) and second(two):
                if price is not None:
                    take(frame, price(one, two))
                return function(one, two)
        raise no_such_overload()

    return run
