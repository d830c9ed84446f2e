"""Whether what runs on every node leaves jobs what they were promised, and the kubelet something to pin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.findings import Finding
from trainyard.rules import Rule
from trainyard.sizing.daemons import Daemon, daemons, malformed_amounts
from trainyard.sizing.node import binary, cores, numa_nodes, one_numa_node, size
from trainyard.specs import Cluster, Pool
from trainyard.specs.shapes import known
from trainyard.specs.sources import Source

GUARANTEED = Rule(
    id="numa-memory-guaranteed-daemon",
    title="No Guaranteed daemon runs where the kubelet pins memory and jobs may be wider than a NUMA node.",
    why="the NUMA node that holds its memory leaves every group of several, so that no such pod is ever admitted",
    fix="let a limit of the daemon differ from its request, or set memoryManagerPolicy: None",
    source="kubernetes v1.35 pkg/kubelet/cm/memorymanager/policy_static.go calculateHints",
    layer="node",
    may_waive=True,
)
ROOM = Rule(
    id="node/daemons",
    title="Daemons of a node ask for no more than is kept for them.",
    why="jobs are sized to what is left of a node: the last pod of every node would stay pending",
    fix="let them ask for less, or spell the shape out with larger daemons",
    source="docs/clusters.md",
    layer="node",
)
AMOUNT = Rule(
    id="node/daemon-amount",
    title="Amounts of daemons in the values of a chart are quantities.",
    why="the API server refuses what the chart makes of them, so that nodes are without the daemon",
    fix="write an amount such as 100m or 150Mi",
    source="kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go",
    layer="node",
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield Guaranteed daemons beside pinned memory, pools on which daemons ask for too much, amounts that are none."""
    for path, value in malformed_amounts(cluster):
        message = f"{path[-1]} is {str(value)[:20]!r}, but should be a quantity; write an amount such as 100m or 150Mi"
        yield AMOUNT.at(source, path, message)
    for name, pool in cluster.pools.items():
        if not known(pool.shape):
            continue
        found = daemons(cluster, name)
        if pins_wide_pods(pool):
            yield from check_pinned(name, found, source)
        yield from check_room(name, pool, [each for each in found if each.everywhere], source)


def pins_wide_pods(pool: Pool) -> bool:
    """Whether the kubelet pins memory and may be given pods that are wider than a NUMA node."""
    static = pool.kubelet is not None and pool.kubelet.memory_manager_policy == "Static"
    return static and len(numa_nodes(pool.node)) > 1 and not one_numa_node(pool)


def check_pinned(name: str, found: Sequence[Daemon], source: Source) -> Iterator[Finding]:
    """Yield the daemons whose memory the kubelet of the pool pins."""
    for each in found:
        if each.guaranteed:
            message = f"daemon {each.name!r} is Guaranteed, but {name!r} pins memory; no pod of a whole node starts"
            yield GUARANTEED.at(source, each.at, message)


def check_room(name: str, pool: Pool, found: Sequence[Daemon], source: Source) -> Iterator[Finding]:
    """Yield CPUs or memory that daemons ask for beyond what the pool keeps for them."""
    room = pool.node.daemons
    cpus, memory = sum(each.cpus for each in found), sum(each.memory for each in found)
    if cpus > cores(room.cpus):
        message = f"daemons of {name!r} ask for {float(cpus):g} CPUs, but {room.cpus} are kept for them"
        yield ROOM.at(source, ("pools", name), message)
    if memory > size(room.memory):
        message = f"daemons of {name!r} ask for {binary(memory)}, but {room.memory} is kept for them"
        yield ROOM.at(source, ("pools", name), message)
