"""Turns plans into Python closures, and imports only the libraries whose functions they call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from trainyard.upstream.apiserver.cel import access, calls, folds, library, logic, spent, values
from trainyard.upstream.apiserver.cel.access import Step
from trainyard.upstream.apiserver.cel.errors import CelError, no_such_overload
from trainyard.upstream.apiserver.cel.library import operators
from trainyard.upstream.apiserver.cel.logic import Frame, Run
from trainyard.upstream.apiserver.cel.values import Optional, TypeValue, UInt

if TYPE_CHECKING:
    from trainyard.upstream.apiserver.cel.syntax import FoldKind

Plan = Sequence[Any]
"""A list as JSON has it: the name of a step, then plans and plain values; `compile` makes them."""

_SPELLED: dict[str, Callable[[Any], Any]] = {"uint": UInt, "bytes": bytes.fromhex, "double": float}
_FAST: dict[str, Callable[[Any, Any], bool]] = {
    "_<_": lambda one, two: one < two,
    "_<=_": lambda one, two: one <= two,
    "_>_": lambda one, two: one > two,
    "_>=_": lambda one, two: one >= two,
}


def build(plan: Plan) -> Run:
    """Return the closure that evaluates a plan; raises KeyError, TypeError or ValueError for what is none."""
    return _BUILD[plan[0]](*plan[1:])


def constant(value: Any, spelled: str | None = None) -> Run:
    """Give the value of a literal."""
    found = value if spelled is None else _SPELLED[spelled](value)
    return lambda _: found


def named_type(name: str) -> Run:
    """Give a type as a value."""
    value = TypeValue(name)
    return lambda _: value


def call(forms: Sequence[str], arguments: Sequence[Plan]) -> Run:
    """Call the one function that the types allow."""
    found, given = library.find(*forms), [build(argument) for argument in arguments]
    price = spent.price_of(found)
    return calls.direct(found.run, given) if price is None else spent.meter_call(found.run, price, given)


def dispatch_forms(forms: Sequence[str], arguments: Sequence[Plan]) -> Run:
    """Call the first form that takes the values."""
    found = [library.find(form) for form in forms]
    return calls.dispatch_overloads(
        found, [spent.price_of(overload) for overload in found], [build(argument) for argument in arguments]
    )


def equality(one: Plan, two: Plan, wanted: bool, plain: bool) -> Run:
    """Compare two values, quickly where both are simple."""
    left, right = build(one), build(two)
    if not plain:
        compare = spent.meter_call(values.equal, spent.equality, [left, right])
        return lambda frame: compare(frame) is wanted
    if wanted:
        return lambda frame: left(frame) == right(frame)
    return lambda frame: left(frame) != right(frame)


def comparison(function: str, one: Plan, two: Plan, plain: bool) -> Run:
    """Order two values."""
    return calls.direct((_FAST if plain else operators.COMPARISONS)[function], [build(one), build(two)])


def find_among(one: Plan, texts: Sequence[str]) -> Run:
    """Look a text up among constant ones."""
    wanted, known = build(one), frozenset(texts)
    return lambda frame: wanted(frame) in known


def build_list(plans: Sequence[Plan], optional: Sequence[int]) -> Run:
    """Build a list; elements at optional places may be absent."""
    elements = [build(plan) for plan in plans]
    if not optional:
        return lambda frame: [element(frame) for element in elements]
    places = frozenset(optional)

    def run(frame: Frame) -> list[Any]:
        found = []
        for place, element in enumerate(elements):
            value = element(frame)
            if place in places:
                if not isinstance(value, Optional):
                    raise no_such_overload()
                if not value.present:
                    continue
                value = value.value
            found.append(value)
        return found

    return run


def build_map(plans: Sequence[tuple[Plan, Plan, bool]]) -> Run:
    """Build a map; of a key that comes twice the last counts."""
    pairs = [(build(key), build(value), optional) for key, value, optional in plans]

    def run(frame: Frame) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key_of, value_of, is_optional_entry in pairs:
            key, value = key_of(frame), value_of(frame)
            if is_optional_entry:
                if not isinstance(value, Optional):
                    raise no_such_overload()
                if not value.present:
                    continue
                value = value.value
            if not isinstance(key, str | int):
                raise CelError(f"unsupported key type: {values.type_name(key)}")
            found[key] = value
        return found

    return run


def bind(slot: int, value_plan: Plan, body_plan: Plan) -> Run:
    """Give a value a local name."""
    value, body = build(value_plan), build(body_plan)

    def run(frame: Frame) -> Any:
        frame[slot] = value(frame)
        return body(frame)

    return run


def fold(kind: FoldKind, source: Plan, slots: Sequence[int], cost: int, condition: Plan | None, body: Plan) -> Run:
    """Build a macro over a list or a map."""
    over = folds.rounds(build(source), tuple(slots), cost)
    return folds.build(kind, over, tuple(slots), None if condition is None else build(condition), build(body))


_BUILD: dict[str, Callable[..., Run]] = {
    "alternative": lambda one, two, unwrap: logic.alternative(build(one), build(two), unwrap=unwrap),
    "among": find_among,
    "bind": bind,
    "call": call,
    "comparison": comparison,
    "conditional": lambda *parts: logic.conditional(*map(build, parts)),
    "constant": constant,
    "dispatched": dispatch_forms,
    "equality": equality,
    "field": lambda operand, key, nullable: access.selection(build(operand), Step(key, nullable)),
    "fold": fold,
    "has": lambda operand, key, nullable: access.presence(build(operand), Step(key, nullable)),
    "index": lambda one, two: calls.direct(operators.index, [build(one), build(two)]),
    "junction": lambda one, two, decisive: logic.junction(build(one), build(two), decisive=decisive),
    "list": build_list,
    "local": access.local,
    "map": build_map,
    "negation": lambda one: logic.negation(build(one)),
    "optional field": lambda operand, key, nullable: access.optional_selection(build(operand), Step(key, nullable)),
    "type": named_type,
    "variable": access.variable,
}
