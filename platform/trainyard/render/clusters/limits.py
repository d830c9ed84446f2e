"""Limits of a team's namespace beside its queues: a ResourceQuota, and a LimitRange with defaults."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from trainyard.base.quantities import Quantity
from trainyard.render.clusters.platform import cohort_spec, queue_spec
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.gpus import per_node
from trainyard.specs import Cluster, Team
from trainyard.specs.models.limits import Limits
from trainyard.upstream.kueue.quota.most import most_admitted
from trainyard.upstream.pods.resources import CPU, MEMORY, quantity_text

QUOTA, RANGE = "limits", "defaults"

NO_AFFINITY = "no-foreign-affinity"
"""Name of the quota of no pod that is placed by those of other namespaces."""


def resources(cluster: Cluster, name: str, team: Team) -> Iterator[Resource]:
    """Yield the ResourceQuota and the LimitRange of a team's namespace, as far as its file asks for them."""
    if team.limits is None:
        return
    source, place = f"team/{name}", cluster.namespace_of(name)
    hard = {**counts(team.limits), **compute(cluster, name, team.limits)}
    if hard:
        yield Resource("v1", "ResourceQuota", QUOTA, ("limits",), place, fields={"spec": {"hard": hard}}, source=source)
    defaults = team.limits.defaults
    if defaults is not None:
        container = {
            "type": "Container",
            "default": {MEMORY: defaults.memory},
            "defaultRequest": {CPU: defaults.cpus, MEMORY: defaults.memory},
        }
        fields = {"spec": {"limits": [container]}}
        yield Resource("v1", "LimitRange", RANGE, ("limits", "defaults"), place, fields=fields, source=source)


def no_affinity() -> dict[str, Any]:
    """Return the fields of that quota: what no policy on objects could miss.

    Its scope leaves all other pods alone, and Kueue's quota (kubernetes v1.35 pkg/quota/v1/evaluator/core/pods.go).
    """
    scope = {"matchExpressions": [{"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"}]}
    return {"hard": {"pods": "0"}, "scopeSelector": scope}


def counts(limits: Limits) -> dict[str, str]:
    """Return the limits that are amounts of their own: pods, claims, and bytes of claims."""
    said = {"pods": limits.pods, "persistentvolumeclaims": limits.claims, "requests.storage": limits.storage}
    return {name: str(value) for name, value in said.items() if value is not None}


def compute(cluster: Cluster, name: str, limits: Limits) -> dict[str, str]:
    """Return the most that all pods of the namespace may request: what the team's queues admit, and what is beside.

    Of Kueue's resources these are CPUs, memory and GPUs; disk and other devices follow from them.
    """
    if not limits.queues:
        return {}
    queues = {key: queue_spec(cluster, queue) for key, queue in cluster.queues.items()}
    cohorts = {key: cohort_spec(cluster, cohort) for key, cohort in cluster.cohorts.items()}
    mine = [key for key, queue in cluster.queues.items() if name in queue.teams]
    found = most_admitted(mine, queues, cohorts)
    if limits.beside is not None:
        for resource, more in ((CPU, limits.beside.cpus), (MEMORY, limits.beside.memory)):
            found[resource] = found.get(resource, Decimal(0)) + Quantity.parse(more).amount
    devices = {device for pool in cluster.pools.values() for device in per_node(pool)}
    wanted = (CPU, MEMORY, *sorted(devices & found.keys()))
    return {f"requests.{key}": quantity_text(key, found[key]) for key in wanted if key in found}
