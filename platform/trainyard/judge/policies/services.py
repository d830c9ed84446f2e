"""Workloads that serve, beside those that train: a Deployment takes GPUs and mounts claims, too."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.policies.world import TrainingJob, World
from trainyard.upstream.workloads import carriers


def all_workloads(world: World) -> tuple[TrainingJob, ...]:
    """Return everything that pods are made of: what trains, what makes such jobs, plain pods and services."""
    return (*world.workloads(), *services(world))


def services(world: World) -> Iterator[TrainingJob]:
    """Yield the workloads that serve, such as Deployments: they neither train nor make what trains."""
    for row in carriers().values():
        if not row.trains and not row.makes and not row.idle and row.embeds is None and row.kind != "Pod":
            yield from (TrainingJob(item, row, item, world.texts) for item in world.of(row.kind, group=row.group))
