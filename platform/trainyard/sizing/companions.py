"""Containers of a job's own in the workers' pods, and what they take of what a pod has."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from trainyard.quantities import Quantity
from trainyard.specs import Job

SIDECAR = {"cpu": "100m", "memory": "128Mi"}
"""What a container of the job's own gets that asks for nothing: so Kueue counts it and the pod stays Guaranteed."""


def companions(job: Job) -> list[Mapping[str, Any]]:
    """Return the job's own containers that run beside the training one; others have ended when it begins."""
    sidecars = [each for each in job.init_containers if each.get("restartPolicy") == "Always"]
    return [*job.containers, *sidecars]


def resources(container: Mapping[str, Any]) -> dict[str, Any]:
    """Return the limits of a container of the job's own, CPU and memory filled in; requests are made equal.

    What is no quantity stays, for the API's verdict to name it.
    """
    given = container.get("resources")
    given = given if isinstance(given, Mapping) else {}
    merged: dict[str, Any] = dict(SIDECAR)
    for name in ("requests", "limits"):
        part = given.get(name)
        merged |= part if isinstance(part, Mapping) else {}
    return {name: text(value) for name, value in merged.items()}


def text(value: Any) -> Any:
    """Return a quantity's canonical text, or the value itself where it is none."""
    found = parsed(value)
    return value if found is None else found.canonical()


def taken(containers: list[Mapping[str, Any]], resource: str) -> Fraction:
    """Return how much of a resource containers take together; what is no quantity takes nothing."""
    found = [parsed(resources(each).get(resource)) for each in containers]
    return sum((Fraction(each.amount) for each in found if each), Fraction(0))


def parsed(value: Any) -> Quantity | None:
    """Return a value of a free-form container as a quantity, or None where it is none."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        return Quantity.parse(value)
    except ValueError:
        return None
