"""Containers of a job's own in the workers' pods, and what they take of what a pod has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from trainyard.base.quantities import Quantity
from trainyard.render.sizing import flushing, staging
from trainyard.render.sizing.base import RoleSize
from trainyard.render.sizing.roles import WORKER
from trainyard.specs import Job
from trainyard.upstream.pods.demand import Container, add_amounts, at_one_time, requests_of
from trainyard.upstream.pods.pod import ALWAYS, is_sidecar
from trainyard.upstream.pods.resources import CPU, MEMORY

SIDECAR = {CPU: "100m", MEMORY: "128Mi"}
"""What a container of the job's own gets that asks for nothing: so Kueue counts it and the pod stays Guaranteed."""


def of_job(job: Job, folder: str = "") -> list[Mapping[str, Any]]:
    """Return the job's own containers as the init containers that they are rendered as, in their order.

    Those that restore and copy its checkpoints are first; `folder` is where those are in the volume.

    Those that run beside the training one are sidecars, which the kubelet ends when that one has ended: among the pod's
    `containers` they would hold a finished job for as long as they run. They start after the job's init containers.
    """
    beside = ({**container, "restartPolicy": ALWAYS} for container in job.containers)
    return [*flushing.containers(job, folder), *job.init_containers, *beside]


def before_training(job: Job, role: RoleSize, folder: str = "") -> list[Mapping[str, Any]]:
    """Return the init containers of a role's pods beside those of its fabric: staging, then the job's own."""
    return [*staging.container(job, role), *(of_job(job, folder) if role.name == WORKER else ())]


def companions(job: Job) -> list[Mapping[str, Any]]:
    """Return the job's own containers that run beside the training one; others have ended when it begins."""
    return list(filter(is_sidecar, of_job(job)))


def pod_requests(job: Job, role: RoleSize) -> dict[str, Decimal]:
    """Return the requests of one pod of a role as the scheduler and Kueue count them: of all its containers.

    What is no quantity is nothing.
    """
    initial = [*role.fabric.sidecars, *before_training(job, role)]
    listed = [container_of(resources(own), init=True, stays=is_sidecar(own)) for own in initial]
    asked = at_one_time([*listed, container_of(role.requests())], requests_of)
    return {name: amount.amount for name, amount in asked.items()}


def container_of(amounts: Mapping[str, Any], *, init: bool = False, stays: bool = False) -> Container:
    """Return a container that asks for these amounts."""
    found = {name: parse_amount(value) or Quantity(Decimal()) for name, value in amounts.items()}
    return Container("", found, found, init=init, restartable=stays)


def total(several: Iterable[Mapping[str, Any]]) -> dict[str, Decimal]:
    """Return the sums of resources; what is no quantity is nothing."""
    return {
        name: amount.amount
        for name, amount in add_amounts(container_of(amounts).requests for amounts in several).items()
    }


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
    found = parse_amount(value)
    return value if found is None else found.canonical()


def taken_amount(containers: Iterable[Mapping[str, Any]], resource: str) -> Fraction:
    """Return how much of a resource containers take together; what is no quantity takes nothing."""
    found = [parse_amount(resources(container).get(resource)) for container in containers]
    return sum((Fraction(quantity.amount) for quantity in found if quantity), Fraction(0))


def parse_amount(value: Any) -> Quantity | None:
    """Return a value of a free-form container as a quantity, or None where it is none that any machine has."""
    return amount_of(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


@lru_cache(maxsize=4096, typed=True)
def amount_of(value: str | float) -> Quantity | None:
    """Return a text or a number as the same."""
    try:
        return Quantity.parse(value)
    except ValueError:
        return None
