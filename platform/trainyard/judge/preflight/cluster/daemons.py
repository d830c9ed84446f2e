"""Checks that daemons leave jobs the CPUs and memory that sizing expects, and the kubelet memory to pin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.daemons import Daemon, daemons, malformed_amounts
from trainyard.render.sizing.node import binary, cores, numa_nodes, one_numa_node, size
from trainyard.specs import Cluster, Pool
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

GUARANTEED = Rule(
    id="numa-memory-guaranteed-daemon",
    title="No daemon is Guaranteed on nodes whose kubelet pins memory and whose jobs span NUMA nodes.",
    why=(
        "the daemon's NUMA node can no longer be grouped with others, so a pod that spans NUMA nodes is never admitted"
    ),
    fix="let a limit of the daemon differ from its request, or set memoryManagerPolicy: None",
    source="kubernetes v1.35 pkg/kubelet/cm/memorymanager/policy_static.go calculateHints",
    layer="node",
    may_waive=True,
)
ROOM = Rule(
    id="node/daemons",
    title="Daemons of a node request no more than the shape reserves for them.",
    why="jobs are sized to fill the rest of a node, so the last pod of every node would stay pending",
    fix="lower the daemons' requests, or spell the shape out with larger daemons",
    source="docs/clusters.md",
    layer="node",
)
AMOUNT = Rule(
    id="node/daemon-amount",
    title="Resource amounts in a chart's values are Kubernetes quantities.",
    why="the API server refuses the chart's objects, so nodes run without this daemon",
    fix="write a quantity such as 100m or 150Mi",
    source="kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go",
    layer="node",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield Guaranteed daemons beside pinned memory, pools on which daemons ask for too much, amounts that are none."""
    for path, value in malformed_amounts(cluster):
        message = f"{path[-1]} is {str(value)[:20]!r}, which is not a quantity; write an amount such as 100m or 150Mi"
        yield AMOUNT.at(source, path, message)
    for name, pool in cluster.pools.items():
        if not is_known_shape(pool.shape):
            continue
        found = daemons(cluster, name)
        if pins_wide_pods(pool):
            yield from check_pinned(name, found, source)
        yield from check_room(name, pool, [daemon for daemon in found if daemon.everywhere], source)


def pins_wide_pods(pool: Pool) -> bool:
    """Whether the kubelet pins memory and may be given pods that are wider than a NUMA node."""
    static = pool.kubelet is not None and pool.kubelet.memory_manager_policy == "Static"
    return static and len(numa_nodes(pool.node)) > 1 and not one_numa_node(pool)


def check_pinned(name: str, found: Sequence[Daemon], source: Source) -> Iterator[Finding]:
    """Yield the daemons whose memory the kubelet of the pool pins."""
    for daemon in found:
        if daemon.guaranteed:
            message = (
                f"daemon {daemon.name!r} is Guaranteed, but {name!r} pins memory, so no whole-node pod starts there"
            )
            yield GUARANTEED.at(source, daemon.at, message)


def check_room(name: str, pool: Pool, found: Sequence[Daemon], source: Source) -> Iterator[Finding]:
    """Yield CPUs or memory that daemons ask for beyond what the pool keeps for them."""
    room = pool.node.daemons
    cpus, memory = sum(daemon.cpus for daemon in found), sum(daemon.memory for daemon in found)
    if cpus > cores(room.cpus):
        message = f"daemons of {name!r} request {float(cpus):g} CPUs, but the shape reserves {room.cpus} for them"
        yield ROOM.at(source, ("pools", name), message)
    if memory > size(room.memory):
        message = (
            f"daemons of {name!r} request {binary(memory)} of memory, but the shape reserves {room.memory} for them"
        )
        yield ROOM.at(source, ("pools", name), message)
