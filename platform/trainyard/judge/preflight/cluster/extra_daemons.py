"""Whether the DaemonSets of platform/extra leave jobs the nodes that they are sized for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from trainyard.base.findings import Finding, Severity
from trainyard.base.manifests import unplaced, value_at
from trainyard.base.rules import Rule
from trainyard.judge.policies.amounts import needs
from trainyard.judge.preflight.declared import ALL
from trainyard.judge.preflight.subjects import CLUSTER_BESIDE, OneCluster
from trainyard.render import clusters
from trainyard.render.sizing import gpus
from trainyard.render.sizing.daemons import daemons
from trainyard.render.sizing.node import cores, size, taints_of
from trainyard.specs import Cluster, Pool
from trainyard.specs.shapes import is_known_shape
from trainyard.upstream.pods.resources import CPU, MEMORY
from trainyard.upstream.pods.taints import Toleration, untolerated_taint

ROOM = Rule(
    id="node/extra-daemons",
    title="DaemonSets in platform/extra request no more than what pools keep for daemons.",
    why="jobs are sized to fill the rest of a node, so the last pod of every node would stay pending",
    fix="lower the requests, or add the daemon to daemons of the pool: jobs are then sized around it",
    source="docs/pools.md; kubernetes v1.35 pkg/scheduler/framework/plugins/noderesources/fit.go",
    layer="node",
    severity=Severity.WARNING,
)

TEMPLATE = ("spec", "template")


@CLUSTER_BESIDE.check(after=(ALL,))
def check(one: OneCluster) -> Iterator[Finding]:
    """Yield the DaemonSets that request more of a pool's nodes than other daemons leave; those stated are counted."""
    cluster = one.cluster
    own = [item for items in clusters.of_files(one.loaded.specs, one.name).values() for item in items]
    found = [item for item in own if item.value.get("kind") == "DaemonSet"]
    for name, pool in cluster.pools.items() if found else ():
        if not is_known_shape(pool.shape):
            continue
        cpus, memory = room(cluster, name, pool)
        stated = {daemon.name for daemon in pool.daemons}
        for item in found:
            if item.identity.name in stated or not lands(item.value, cluster, name):
                continue
            asked = needs(unplaced(item.value), TEMPLATE)
            wanted = [Fraction(asked[key].amount) if key in asked else Fraction(0) for key in (CPU, MEMORY)]
            cpus, memory = cpus - wanted[0], memory - wanted[1]
            if cpus < 0 or memory < 0:
                what = f"{float(wanted[0]):.3g} CPUs" if cpus < 0 else f"{float(wanted[1]) / 2**30:.3g}Gi"
                message = f"its pods request {what} on nodes of pool {name!r}, more than is kept for daemons"
                yield ROOM.of(item.place, f"{message}; add it to daemons of the pool")
                return


def room(cluster: Cluster, name: str, pool: Pool) -> tuple[Fraction, Fraction]:
    """Return the CPUs and bytes that a pool keeps for daemons and that none of those known requests."""
    known = [daemon for daemon in daemons(cluster, name) if daemon.everywhere]
    cpus = Fraction(cores(pool.node.daemons.cpus)) - sum(Fraction(daemon.cpus) for daemon in known)
    return cpus, Fraction(size(pool.node.daemons.memory)) - sum(Fraction(daemon.memory) for daemon in known)


def lands(value: Mapping[str, Any], cluster: Cluster, name: str) -> bool:
    """Whether pods of a DaemonSet run on nodes of a pool, as far as its labels and taints are known."""
    pool = cluster.pools[name]
    spec: Any = value_at(value, (*TEMPLATE, "spec"))
    if not isinstance(spec, Mapping):
        return False
    labels, selector = gpus.labels(name, pool), spec.get("nodeSelector")
    if isinstance(selector, Mapping) and any(labels.get(key) != wanted for key, wanted in selector.items()):
        return False
    said = spec.get("tolerations")
    own = [Toleration.read(item) for item in said if isinstance(item, Mapping)] if isinstance(said, list) else []
    return "affinity" not in spec and untolerated_taint(taints_of(pool), own) is None
