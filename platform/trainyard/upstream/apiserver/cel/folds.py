"""Macros over lists and maps: `all`, `exists`, `existsOne`, `map`, `filter`, `sortBy` and their two-variable forms.

Every round takes its share of the budget, so that no expression runs for ever.
Source: google/cel-go v0.26.0 parser/macro.go, ext/comprehensions.go, ext/lists.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from trainyard.upstream.apiserver.cel import spent
from trainyard.upstream.apiserver.cel.errors import CelError, no_such_overload
from trainyard.upstream.apiserver.cel.library.lists import sort_by
from trainyard.upstream.apiserver.cel.logic import BUDGET, BudgetError, Frame, Run, boolean, take, worse

if TYPE_CHECKING:
    from trainyard.upstream.apiserver.cel.syntax import FoldKind

Rounds = Callable[[Frame], Iterator[Any]]


def rounds(source: Run, slots: tuple[int, ...], cost: int) -> Rounds:
    """Iterate over a list or a map, binding the variables of each round and taking its cost."""
    first = slots[0]
    second = slots[1] if len(slots) == 2 else None

    def run(frame: Frame) -> Iterator[Any]:
        values = source(frame)
        if not isinstance(values, list | dict):
            raise no_such_overload()
        pairs = values.items() if isinstance(values, dict) else enumerate(values)
        one_is_key = second is not None or isinstance(values, dict)
        for key, value in pairs:
            frame[BUDGET] -= cost
            if frame[BUDGET] < 0:
                raise BudgetError
            frame[first] = key if one_is_key else value
            if second is not None:
                frame[second] = value
            yield frame[first]

    return run


def quantifier(over: Rounds, body: Run, *, decisive: bool) -> Run:
    """Build `exists` where true decides, `all` where false does."""
    neutral = not decisive

    def run(frame: Frame) -> bool:
        failure: CelError | None = None
        for _ in over(frame):
            try:
                found = body(frame)
            except CelError as error:
                failure = worse(failure, error)
                continue
            if found is decisive:
                return not neutral
            if found is not neutral:
                failure = worse(failure, no_such_overload())
        if failure is not None:
            raise failure
        return neutral

    return run


def exactly_one(over: Rounds, body: Run) -> Run:
    """Build `existsOne`: an error in any round is one of the whole."""
    return lambda frame: sum(boolean(body(frame)) for _ in over(frame)) == 1


def collection(over: Rounds, condition: Run | None, body: Run) -> Run:
    """Build `map`, `filter` and `transformList`."""
    if condition is None:
        return lambda frame: [body(frame) for _ in over(frame)]
    chosen = condition
    return lambda frame: [body(frame) for _ in over(frame) if boolean(chosen(frame))]


def mapping(over: Rounds, condition: Run | None, body: Run) -> Run:
    """Build `transformMap`: the same keys, new values."""

    def run(frame: Frame) -> dict[Any, Any]:
        return {key: body(frame) for key in over(frame) if condition is None or boolean(condition(frame))}

    return run


def entries(over: Rounds, condition: Run | None, body: Run) -> Run:
    """Build `transformMapEntry`: each round gives a map, and no key may come twice."""

    def run(frame: Frame) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for _ in over(frame):
            if condition is not None and not boolean(condition(frame)):
                continue
            found = body(frame)
            if not isinstance(found, dict):
                raise no_such_overload()
            for key, value in found.items():
                if key in result:
                    raise CelError(f"insert failed: key {key} already exists")
                result[key] = value
        return result

    return run


def build_sort(over: Rounds, slot: int, body: Run) -> Run:
    """Build `sortBy`."""

    def run(frame: Frame) -> list[Any]:
        elements, keys = [], []
        for _ in over(frame):
            elements.append(frame[slot])
            keys.append(body(frame))
        take(frame, spent.order(keys))
        return sort_by(elements, keys)

    return run


def build(kind: FoldKind, over: Rounds, slots: tuple[int, ...], condition: Run | None, body: Run) -> Run:
    """Build the macro of a kind."""
    if kind in {"all", "exists"}:
        return quantifier(over, body, decisive=kind == "exists")
    if kind == "existsOne":
        return exactly_one(over, body)
    if kind == "sort":
        return build_sort(over, slots[0], body)
    builders = {"list": collection, "map": mapping, "entries": entries}
    return builders[kind](over, condition, body)
