"""Rehearsals: whether KWOK simulates a cluster's nodes, all or none of them, and what it cannot simulate."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.kwok import Kwok
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

DOCS = "docs/rehearsal.md"

MOST_NODES = 1000
"""Simulated nodes of a cluster; each is an object of its own, and a file."""

MIXED = Rule(
    id="spec/simulated",
    title="KWOK simulates all nodes of a cluster, or none.",
    why="a pod on a simulated node is Running at once and never trains, and Kueue counts its GPUs as used",
    fix="set simulated and operator kwok together, or remove both",
    source=DOCS,
)
CANNOT = Rule(
    id="spec/simulated-pool",
    title="KWOK can simulate every pool of a rehearsal.",
    why="runs of the pool would wait for ever for a program that is left out",
    fix="change the pool in the file of the rehearsal",
    source=DOCS,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a rehearsal without KWOK, KWOK beside machines, and pools that it cannot simulate."""
    if cluster.simulated is None:
        if Kwok.name in cluster.operators:
            message = "kwok simulates nodes, but this cluster has machines; remove kwok, or add simulated: {}"
            yield MIXED.at(source, ("operators", Kwok.name), message, key=True)
        return
    if not cluster.installs(Kwok.name):
        message = "simulated needs operator 'kwok', which makes nodes ready; add it to operators"
        yield MIXED.at(source, ("simulated",), message, key=True)
    yield from check_pools(cluster, source)


def check_pools(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose pods wait for what nobody answers, and too many nodes."""
    for name, pool in cluster.pools.items():
        if pool.provisioning is not None:
            message = f"pool {name!r} has scaling.provisioning, but nobody answers its requests; set it to null"
            yield CANNOT.at(source, ("pools", name, "scaling", "provisioning"), message)
    count = sum(pool.nodes for pool in cluster.pools.values())
    if count > MOST_NODES:
        message = f"pools have {count} nodes together, each an object; simulate at most {MOST_NODES}"
        yield CANNOT.at(source, ("pools",), message, key=True)
