"""Finds what makes an expression false: a field that it compares, else the element or entry on which `all` fails.

The server names the rule alone; with this, a finding can point at the field that broke it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.upstream.apiserver.cel.build import Plan, build
from trainyard.upstream.apiserver.cel.errors import CelError
from trainyard.upstream.apiserver.cel.logic import Frame, Run

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Culprit:
    """An element, and where it is in its list or map."""

    container: Any
    key: Any
    element: Any

    def path(self, root: Any) -> Path | None:
        """Return where the culprit is in an object, None where it is no part of it."""
        if isinstance(self.element, dict | list):
            found = path_to(root, self.element)
            if found is not None:
                return found
        found = path_to(root, self.container)
        return None if found is None else (*found, self.key)


def path_to(root: Any, part: Any) -> Path | None:
    """Return where a list or map is in an object: that very one, not one that is equal."""
    if root is part:
        return ()
    if not isinstance(root, dict | list):
        return None
    for key, value in root.items() if isinstance(root, dict) else enumerate(root):
        if (found := path_to(value, part)) is not None:
            return (key, *found)
    return None


Find = Callable[[Frame], Culprit | None]


def finder(plan: Plan, *, wanted: bool = True) -> Find | None:
    """Build what finds the culprit of a plan that is not as wanted; None where it has no parts to blame."""
    kind, *parts = plan
    if kind == "fold":
        return of_fold(*parts, wanted=wanted) if parts[0] == ("all" if wanted else "exists") else None
    if kind == "negation":
        return finder(parts[0], wanted=not wanted)
    if kind == "junction":
        return of_junction(parts[0], parts[1], wanted=wanted)
    if kind in {"field", "has"}:
        return of_field(parts[0], parts[1])
    if kind in {"comparison", "equality"}:
        return of_sides(parts[1:3] if kind == "comparison" else parts[:2])
    return of_choice(*parts, wanted=wanted) if kind == "conditional" else None


def of_field(operand_plan: Plan, name: str) -> Find:
    """Blame the field that is read, where the object has it."""
    operand = build(operand_plan)

    def find(frame: Frame) -> Culprit | None:
        container = operand(frame)
        return Culprit(container, name, container[name]) if isinstance(container, dict) and name in container else None

    return find


def of_sides(plans: Sequence[Plan]) -> Find | None:
    """Blame the first field that is compared."""
    fields = [of_field(plan[1], plan[2]) for plan in plans if plan[0] == "field"]

    def find(frame: Frame) -> Culprit | None:
        return next((culprit for field in fields if (culprit := field(frame)) is not None), None)

    return find if fields else None


def of_fold(
    _: str,
    source_plan: Plan,
    slots: Sequence[int],
    _cost: int,
    _condition: Plan | None,
    body_plan: Plan,
    *,
    wanted: bool,
) -> Find:
    """Blame the first element on which the body is not as wanted, or what is to blame within it."""
    source, body = build(source_plan), build(body_plan)
    within = finder(body_plan, wanted=wanted)

    def find(frame: Frame) -> Culprit | None:
        container = source(frame)
        pairs = container.items() if isinstance(container, dict) else enumerate(container)
        for key, element in pairs:
            frame[slots[0]] = key if len(slots) == 2 or isinstance(container, dict) else element
            if len(slots) == 2:
                frame[slots[1]] = element
            if not is_fulfilled(body, frame, wanted=wanted):
                return (within and within(frame)) or Culprit(container, key, element)
        return None

    return find


def of_junction(left: Plan, right: Plan, *, wanted: bool) -> Find | None:
    """Blame the side that is not as wanted, the right one where both are."""
    sides = [(build(side), finder(side, wanted=wanted)) for side in (right, left)]
    if not any(find for _, find in sides):
        return None

    def find(frame: Frame) -> Culprit | None:
        for run, within in sides:
            if within is not None and not is_fulfilled(run, frame, wanted=wanted) and (found := within(frame)):
                return found
        return None

    return find


def of_choice(condition_plan: Plan, one: Plan, two: Plan, *, wanted: bool) -> Find | None:
    """Blame what was chosen."""
    condition = build(condition_plan)
    then, otherwise = (finder(side, wanted=wanted) for side in (one, two))

    def find(frame: Frame) -> Culprit | None:
        chosen = then if condition(frame) is True else otherwise
        return None if chosen is None else chosen(frame)

    return find if then or otherwise else None


def is_fulfilled(run: Run, frame: Frame, *, wanted: bool) -> bool:
    """Whether a part is as wanted; a part that fails is not."""
    try:
        return run(frame) is wanted
    except CelError:
        return False
