"""Groups of Volcano's that the operators of Kubeflow's jobs make, of what a job says in its scheduling policy.

Facts: training-operator v1.9.4 pkg/controller.v1/common/job.go, util.go; mpi-operator v0.8.2 pkg/controller:
podgroup.go, mpi_job_controller.go; volcano v1.14.1 pkg/scheduler/plugins/proportion. The same on a real control plane.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.base.quantities import Quantity
from trainyard.render.kinds.base import Resolved
from trainyard.render.parts import gang

OPERATORS = ("mpi-operator", "training-operator")
"""Operators that make such groups where a flag of theirs says so."""


def scheduling_policy(run: Resolved, replicas: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scheduling policy of a job with such replica types: queue, priority, and pods that are bound together.

    Where a role's pods come after the others, as an MPIJob's launcher does when its workers are ready, they are not
    among those: a group that waited for them would never start. Their requests are, so that the queue keeps room.
    """
    job, together, least = run.run.job, run.kind.together(run), gang.least(run.run, run.sizing)
    later = together and any(name not in together for name in least)
    return {
        "queue": job.queue,
        "priorityClass": job.priority,
        "minAvailable": sum((together or least).values()),
        "minResources": requests(run, replicas, least) if later else None,
    }


def requests(run: Resolved, replicas: Mapping[str, Any], pods: Mapping[str, int]) -> dict[str, str]:
    """Return the requests of so many pods of each role together, of the containers that the operator counts, too."""
    sums: dict[str, Quantity] = {}
    for role, kind in (run.kind.replicas or {}).items():
        for container in replicas[kind]["template"]["spec"]["containers"] if kind in replicas else ():
            resources = container.get("resources") or {}
            for name, amount in {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.items():
                asked = Quantity.parse(str(amount)) * pods[role]
                sums[name] = sums[name] + asked if name in sums else asked
    return {name: str(sums[name]) for name in sorted(sums)}
