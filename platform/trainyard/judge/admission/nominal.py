"""The other queues of a cohort as if each used all of its nominal quota: what a job gets then nobody can deny it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.judge.admission.site import Site
from trainyard.judge.admission.witness import amount, kin

NAMESPACE = "nominal"
"""Of the Workloads that stand for the others; no LimitRange is in it."""

Object = Mapping[str, Any]


def peers(where: Site, queue: str) -> tuple[list[Object], list[Object]]:
    """Return Workloads that use all nominal quota of the other queues in the cohorts of a queue, and who holds what.

    They hold quota and no hosts, and are none of those that may be preempted: no queue borrows.
    """
    workloads, admitted = [], list[Object]()
    for name in kin(where, queue):
        spec = where.of("ClusterQueue").get(name, {}).get("spec") or {}
        for flavor, held in nominal(spec):
            key = f"{name}.{flavor}"
            workloads.append(workload(key, held))
            flavors = dict.fromkeys(held, flavor)
            admitted.append({"workload": f"{NAMESPACE}/{key}", "clusterQueue": name, "flavors": flavors})
    return workloads, admitted


def nominal(spec: Object) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each flavor of a queue with what it has of it."""
    for group in spec.get("resourceGroups") or ():
        for flavor in group["flavors"]:
            rows = {one["name"]: str(one["nominalQuota"]) for one in flavor["resources"] if one["name"] != "pods"}
            held = {name: text for name, text in rows.items() if amount(text) > 0}
            if held:
                yield flavor["name"], held


def workload(name: str, held: Mapping[str, str]) -> Object:
    """Return a Workload of one pod that asks for so much."""
    container = {"name": "all", "image": "all", "resources": {"requests": dict(held)}}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}]},
    }
