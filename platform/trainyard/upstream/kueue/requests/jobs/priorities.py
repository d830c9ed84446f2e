"""The priority of a job's Workload.

Source: kueue v0.19.2 pkg/controller/jobframework/reconciler.go ExtractPriority, pkg/util/priority/priority.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from trainyard.base.labels import PRIORITY
from trainyard.base.manifests import identity_of, value_at
from trainyard.upstream.kueue.requests.jobs.parts import NotMade, Object, labels_of

OURS = ("kueue.x-k8s.io", "WorkloadPriorityClass")
PODS = ("scheduling.k8s.io", "PriorityClass")
PLURAL = {OURS: "workloadpriorityclasses", PODS: "priorityclasses"}


SYSTEM = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Classes that the API server makes itself (kubernetes v1.35 pkg/apis/scheduling/v1/helpers.go)."""


def priority(value: Object, templates: Sequence[Object], others: Sequence[Object]) -> tuple[int, dict[str, str] | None]:
    """Return the priority, and the class that it comes from; raises NotMade where the class is not there.

    First the job's label counts, then the priority class of Kubeflow's scheduling policy, then that of the first pods
    that have one, then the cluster's default.
    """
    if name := labels_of(value).get(PRIORITY):
        return find_priority(OURS, name, others)
    policy = value_at(value, ("spec", "runPolicy", "schedulingPolicy", "priorityClass"))
    names = [policy if identity_of(value).group == "kubeflow.org" else None]
    names += [(template.get("spec") or {}).get("priorityClassName") for template in templates]
    named = next((name for name in names if name), None)
    if named:
        return find_priority(PODS, named, others)
    defaults = [priority_class for priority_class in of(PODS, others) if priority_class.get("globalDefault")]
    if not defaults:
        return 0, None
    lowest = min(defaults, key=lambda default: int(default.get("value") or 0))
    return find_priority(PODS, identity_of(lowest).name, others)


def of(kind: tuple[str, str], others: Iterable[Object]) -> list[Object]:
    """Return the objects of a kind."""
    return [other for other in others if (identity_of(other).group, identity_of(other).kind) == kind]


def find_priority(kind: tuple[str, str], name: str, others: Iterable[Object]) -> tuple[int, dict[str, str]]:
    """Return the priority of a class; raises NotMade where it is not there. Two classes every cluster has."""
    if kind == PODS and name in SYSTEM:
        return SYSTEM[name], {"group": kind[0], "kind": kind[1], "name": name}
    for priority_class in of(kind, others):
        if identity_of(priority_class).name == name:
            value: Any = priority_class.get("value")
            return int(value or 0), {"group": kind[0], "kind": kind[1], "name": name}
    raise NotMade(f'{PLURAL[kind]}.{kind[0]} "{name}" not found')
