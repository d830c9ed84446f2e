"""Pods that are bound to nodes together or not at all: which group a pod is of, and how many of it have to have a node.

A native gang is bound as one Job, of which the pods beyond its minCount wait; one of Coscheduling has a PodGroup. Pods
of other kinds are bound one by one, also on a cluster with gangs.
Source: kubernetes v1.37.2 pkg/scheduler/schedule_one_podgroup.go, framework/plugins/gangscheduling; scheduler-plugins
v0.34.7 pkg/coscheduling.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.judge.admission.job_workloads import Bidder
from trainyard.render.parts import gang
from trainyard.specs import Cluster
from trainyard.upstream.apiserver.core.shapes import Object, child, inner, number

TOGETHER = "pods of its group have no node"
"""What keeps a pod that would have a node, if the rest of its group had one."""


def group(owner: Mapping[str, Any], labels: Mapping[str, str], cluster: Cluster) -> str:
    """Return the group with which a pod is bound, by the object it is of and its labels; empty where it has none."""
    if gang.is_coscheduled(cluster):
        return labels.get(gang.LABEL, "")
    return str(owner["metadata"]["name"]) if gang.is_native(cluster) and policy(owner) is not None else ""


def policy(owner: Mapping[str, Any]) -> Object | None:
    """Return the policy of a Job whose pods kube-scheduler binds together; None where it binds them one by one."""
    if owner["kind"] != "Job" or owner["apiVersion"] != "batch/v1":
        return None
    return child(inner(dict(owner), "spec", "scheduling", "schedulingPolicy"), "gang")


def least(name: str, count: int, bid: Bidder) -> int:
    """Return how many pods of a group have to have a node, of so many that come: all, or an elastic job's fewest."""
    for item in (*bid.beside, *bid.owners):
        if item["metadata"]["name"] == name:
            is_group = item["kind"] == gang.KIND
            said = (
                number(inner(dict(item), "spec"), "minMember") if is_group else number(policy(item) or {}, "minCount")
            )
            if said is not None:
                return min(said, count)
    return count


def unbound(bid: Bidder, groups: Sequence[str], placed: Sequence[int]) -> frozenset[str]:
    """Return the groups of which too few pods have a node; `groups` are those of all pods, `placed` their numbers."""
    there, counts = Counter(groups[number] for number in placed), Counter(groups)
    return frozenset(name for name, count in counts.items() if name and there[name] < least(name, count, bid))
