"""Whether the ClusterQueues and Cohorts of platform/extra leave the quotas of a pool within its machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from trainyard.base.findings import Finding
from trainyard.base.manifests import matches
from trainyard.base.quantities import Quantity
from trainyard.judge.preflight.cluster.overcommit import OVERCOMMIT, nodes, nodes_for_quotas, quotas, spared
from trainyard.judge.preflight.declared import ALL
from trainyard.judge.preflight.subjects import CLUSTER_BESIDE, OneCluster
from trainyard.render import clusters
from trainyard.render.sizing.node import size
from trainyard.specs import Cluster, Pool
from trainyard.specs.shapes import is_known_shape
from trainyard.upstream.pods.resources import CPU, MEMORY

GROUP = "kueue.x-k8s.io"
GPUS = "gpus"
COUNTED = (GPUS, CPU, MEMORY)
"""What quotas are compared by, in the order of `overcommit.nodes`."""

FIELDS = {"ClusterQueue": "queues", "Cohort": "cohorts"}
"""Kinds with quota, and the field of a cluster under which Trainyard has them."""


@CLUSTER_BESIDE.check(after=(ALL,))
def check(one: OneCluster) -> Iterator[Finding]:
    """Yield the first queue of one's own with which all quotas of a pool are above its machines.

    One with the name of a queue of the cluster's file takes its place.
    """
    every = [item for items in clusters.of_files(one.loaded.specs, one.name).values() for item in items]
    own = [item for item in every if item.identity.group == GROUP and item.identity.kind in FIELDS]
    replaced = {(FIELDS[item.identity.kind], item.identity.name) for item in own}
    for name, pool in one.cluster.pools.items() if own else ():
        if not is_known_shape(pool.shape) or name in replaced_flavors(every):
            continue
        there, taken = nodes_for_quotas(one.cluster, name), other_nodes(one.cluster, name, pool, replaced)
        if max(taken) > there:
            continue  # said of the cluster's own file
        for item in own:
            part = quota_nodes(item.value, name, pool)
            taken = [one_amount + more for one_amount, more in zip(taken, part, strict=True)]
            if any(part) and max(taken) > there:
                message = f"with this quota, queues need {float(max(taken)):.4g} nodes of pool {name!r}, which has "
                yield OVERCOMMIT.of(item.place, f"{message}{float(there):.4g}{spared(one.cluster, name)}; lower it")
                break


def replaced_flavors(every: list[clusters.Own]) -> set[str]:
    """Return the flavors that are objects of one's own: nobody knows of which nodes they are."""
    return {item.identity.name for item in every if item.identity.kind == "ResourceFlavor"}


def other_nodes(cluster: Cluster, name: str, pool: Pool, replaced: set[tuple[str, str]]) -> list[Fraction]:
    """Return the nodes that quotas of the cluster's file take, in each resource; `replaced` queues do not count."""
    parts = [nodes(pool, quota) for path, quota in quotas(cluster, name) if (path[0], path[1]) not in replaced]
    return [sum(amounts, Fraction()) for amounts in zip(*parts, strict=True)] or [Fraction()] * len(COUNTED)


def quota_nodes(value: Mapping[str, Any], name: str, pool: Pool) -> list[Fraction]:
    """Return the nodes of a pool that a queue of one's own has quota for, in each resource."""
    found = dict.fromkeys(COUNTED, Fraction())
    for _, flavor in matches(value, ("spec", "resourceGroups", "*", "flavors", "*")):
        listed = flavor.get("resources") if isinstance(flavor, Mapping) and flavor.get("name") == name else None
        for resource in listed if isinstance(listed, list) else ():
            if isinstance(resource, Mapping):
                counted, part = share(resource, pool)
                found[counted] += part
    return list(found.values())


def share(resource: Mapping[str, Any], pool: Pool) -> tuple[str, Fraction]:
    """Return of how many whole nodes a quota of one resource is; of resources that are not counted, of none."""
    shape, gpus, name = pool.node, pool.node.gpus, resource.get("name")
    whole: dict[Any, tuple[str, Fraction]] = {
        CPU: (CPU, Fraction(shape.cpus)),
        MEMORY: (MEMORY, Fraction(size(shape.memory))),
    }
    if gpus is not None and pool.mig is None and pool.sharing is None and pool.partition is None:
        whole[gpus.resource] = GPUS, Fraction(gpus.count)
    try:
        amount = Fraction(Quantity.parse(resource.get("nominalQuota", 0)).amount)
    except ValueError:
        return CPU, Fraction()
    counted, most = whole.get(name, (CPU, None))
    return counted, amount / most if most else Fraction()
