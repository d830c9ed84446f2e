"""Which API object carries a run: one module a kind, read from this folder and from entry points `trainyard.kinds`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from trainyard.base.system.once import once
from trainyard.base.system.registry import registered_modules
from trainyard.render.kinds import checked, companions
from trainyard.render.kinds.base import Kind, Resolved
from trainyard.render.launchers import Role, launchers
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing import RoleSpec, Sizing, size
from trainyard.render.sizing.several import fit_all
from trainyard.specs import Cluster
from trainyard.specs.run import Run
from trainyard.upstream.workloads import carrier_of

__all__ = [
    "PREFERRED",
    "Kind",
    "Resolved",
    "admitted_kinds",
    "all_roles",
    "available",
    "build",
    "default_kind",
    "kind_of",
    "kinds",
    "resolve",
]


@cache
def kinds() -> dict[str, Kind]:
    """Every kind by name: each module's `KIND` here, then entry points, which are `Kind` objects."""
    return registered_modules(sys.modules[__name__], "KIND", Kind, group="trainyard.kinds")


def kind_of(value: Mapping[str, Any]) -> Kind | None:
    """Return the kind that carries a run by such an object, None where none of them does."""
    row = carrier_of(value)
    return next((kind for kind in kinds().values() if kind.carrier is row), None)


@once
def available(cluster: Cluster) -> Sequence[Kind]:
    """Return the kinds that a cluster can run, by name."""
    operators = {None, *cluster.operators}
    return tuple(kind for kind in kinds().values() if kind.carrier.operator in operators)


def admitted_kinds(run: Run) -> Sequence[Kind]:
    """Return the kinds of the run's cluster that its queue admits, by name; of an unknown queue, Kueue's."""
    queue = run.cluster.queues.get(run.job.queue)
    scheduler = queue.scheduler if queue else "kueue"
    return [kind for kind in available(run.cluster) if kind.admitted_by(run.cluster) == scheduler]


PREFERRED = ("JobSet", "Job", "RayJob")
"""Kinds that are taken first where a job names none: a JobSet restarts its gang as one, a Job can change its size, and
a RayJob ends."""


def default_kind(run: Run) -> str:
    """Return the kind of a job that names none: the first of the cluster's that gives what its launcher needs.

    One without an end, which would hold its nodes for ever, is taken where there is no other.
    """
    here = sorted(
        admitted_kinds(run) or available(run.cluster),
        key=lambda kind: (kind.name not in PREFERRED, kind.name == "Job", kind.carrier.ending is None, kind.name),
    )
    launcher = launchers().get(run.job.launcher)
    if launcher is not None:
        roles = launcher.starts(launcher.roles(run))
        here = [kind for kind in here if kind.can(launcher.wants(run, roles), roles)] or here
    return here[0].name


def resolve(run: Run) -> Resolved:
    """Return everything that follows from a run whose kind and launcher exist; raises KeyError for others."""
    kind, launcher = kinds()[run.kind], launchers()[run.job.launcher]
    roles = all_roles(run)
    sizing = size_on_all(run, roles)
    wiring = kind.wiring(run)
    launch = checked.gate(run, launcher.launch(run, sizing, wiring), wiring)
    named = {role.name for role in launch.roles}
    own = tuple(Role(role, ()) for role in sizing.roles if role.name not in named)
    return Resolved(run, kind, launcher, roles, sizing, wiring, replace(launch, roles=(*launch.roles, *own)))


def size_on_all(run: Run, roles: Sequence[RoleSpec]) -> Sizing:
    """Return the sizes of a run's pods, which fit each of its pools."""
    runs = run.on_each_pool()
    if len(runs) == 1:
        return size(run, roles)
    return fit_all(run, {on_pool.pool_name: size(on_pool, all_roles(on_pool)) for on_pool in runs})


def all_roles(run: Run) -> tuple[RoleSpec, ...]:
    """Return the roles of the run's launcher, and the pods that its kind's operator makes beside them."""
    roles = launchers()[run.job.launcher].roles(run)
    return (*roles, *kinds()[run.kind].beside(run, roles))


def build(run: Resolved) -> Iterator[Resource]:
    """Yield the objects of a run that the checks let pass."""
    yield from run.kind.build(run)
    yield from companions.build(run)
