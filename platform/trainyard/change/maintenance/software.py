"""Nodes that get another minor version of Kubernetes, or other settings of their kubelet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.change.maintenance.hardware import drifted
from trainyard.change.maintenance.outage import Outage
from trainyard.specs import Cluster


def kubernetes(cluster: Cluster, before: str, after: str) -> Iterator[Outage]:
    """Yield the nodes that get another minor version of Kubernetes, pool by pool as their distribution does it."""
    for name, pool in cluster.pools.items():
        facts, what = cluster.distribution_of(name).node_upgrade, f"Kubernetes {before} → {after}"
        if cluster.is_karpenters(name):
            yield drifted(what, cluster, name)
            continue
        yield Outage(
            what,
            (name,),
            pool.nodes,
            facts.by,
            facts.how,
            "all pods" if facts.drains else "no pods",
            facts.at_a_time,
            facts.minutes * 60 if facts.minutes else None,
            facts.then,
            synced=False,
        )


def settings(cluster: Cluster, pools: Iterable[str]) -> Iterator[Outage]:
    """Yield the nodes whose files change.

    A kubelet whose managers of CPUs or memory get another policy does not start over its old state, so a node is
    drained first (kubernetes v1.35 documentation, control CPU management policies on the node).
    """
    for name in pools:
        if name not in cluster.pools:
            continue
        if cluster.is_karpenters(name):
            yield drifted("files of nodes", cluster, name)
            continue
        openshift = cluster.system_of(name).distribution == "openshift"
        facts = cluster.distribution_of(name).node_upgrade
        yield Outage(
            "files of nodes",
            (name,),
            cluster.pools[name].nodes,
            facts.by if openshift else "a person",
            facts.how if openshift else "drains a node, puts the files there and restarts its kubelet",
            "all pods",
            facts.at_a_time if openshift else None,
            None,
            facts.then if openshift else "the node stays cordoned",
            synced=False,
        )
