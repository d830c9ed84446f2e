"""What containers ask for: as much CPU and memory as they may use, since quota counts requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.base.manifests import value_at
from trainyard.base.quantities import Quantity
from trainyard.render.tenancy.shapes import About, Condition


def amount(value: Any) -> Quantity | None:
    """Return a quantity, None of what is none."""
    try:
        return Quantity.parse(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None
    except ValueError:
        return None


def is_counted(resources: Any, name: str, *, limited: bool) -> bool:
    """Whether quota counts all that a container may use of a resource; `limited` says that it has to have a limit."""
    request, limit = (amount(value_at(resources, (key, name))) for key in ("requests", "limits"))
    if limit is None and limited:
        return False
    asked = limit if request is None else request
    return asked is not None and asked.amount > 0 and (limit is None or limit.amount == asked.amount)


def covers(value: Any, _about: About) -> bool:
    """Whether quota counts all CPUs and memory of a container's resources, said by themselves."""
    return is_counted(value, "cpu", limited=False) and is_counted(value, "memory", limited=True)


def is_covered(value: Any, _about: About) -> bool:
    """Whether quota counts all CPUs and memory of a container."""
    if not isinstance(value, Mapping):
        return False
    given = value.get("resources")
    return is_counted(given, "cpu", limited=False) and is_counted(given, "memory", limited=True)


def equal(name: str, *, limited: bool, at: str = ".?resources") -> str:
    """Return the condition in CEL that quota counts all of a resource of `{x}`."""
    limit, request = (f"{{x}}{at}.?{key}.?{name}" for key in ("limits", "requests"))
    at_least = f"quantity(string({request}.or({limit}).orValue('0'))).isGreaterThan(quantity('0'))"
    same = (
        f"(!{limit}.hasValue() || !{request}.hasValue() || "
        f"quantity(string({request}.value())).compareTo(quantity(string({limit}.value()))) == 0)"
    )
    return f"{at_least} && {same}" + (f" && {limit}.hasValue()" if limited else "")


COVERED = Condition(
    is_covered,
    f"{equal('cpu', limited=False)} && {equal('memory', limited=True)}",
    "container {name} must request CPU and memory, as much as their limits; set both",
    subject="resources",
    at=("resources",),
)

COVERS = Condition(
    covers,
    f"{equal('cpu', limited=False, at='')} && {equal('memory', limited=True, at='')}",
    "the trainer must request CPU and memory, as much as their limits; set both",
    subject="resources",
)
