"""What is wrong with how a run's pods use the fabric of their pool: rails far from GPUs, or no rail at all."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.fabrics.devices import functions_per_node, reports_numa
from trainyard.render.sizing.fabrics.efa import DEVICE as EFA_DEVICE
from trainyard.render.sizing.fabrics.rails import HOST, attach, has_verbs, one_for_all, rails_of
from trainyard.render.sizing.machines import available
from trainyard.render.sizing.node import aligns, numa_nodes
from trainyard.render.sizing.roles import RoleSpec, wants_rdma
from trainyard.specs import Cluster, Pool

KUBELET = "kubernetes v1.35 pkg/kubelet/cm"

RATIO = Rule(
    id="numa-gpu-vf-ratio",
    title="A pod with RDMA uses whole nodes, or NICs that the kubelet aligns with its GPUs.",
    why=(
        "pods that share a node all get its first rails: the second pod's NICs are far from its GPUs, or it is refused"
    ),
    fix="use all GPUs of a node, or use one resource for all NICs in fabric.resources",
    source="docs/fabric.md; kubernetes v1.35 pkg/kubelet/cm/topologymanager/policy.go",
    layer="node",
    may_warn=True,
)
HINTS = Rule(
    id="numa-rail-hints",
    title="A pod that spans NUMA nodes does not request NICs that one NUMA node could provide.",
    why="its GPUs need several NUMA nodes and its NICs one, so the kubelet refuses the pod (TopologyAffinityError)",
    fix="set virtualFunctions: 1, or excludeTopology: true",
    source=f"{KUBELET}/topologymanager/policy.go mergePermutation, devicemanager/topology_hints.go",
    layer="node",
)
UNUSED = Rule(
    id="rdma-fabric-unused",
    title="A multi-node GPU job on machines with NICs for training sets fabric to rdma or tcp.",
    why="without the field it trains over the cluster network's single NIC, which is slow and reports nothing",
    fix=(
        "add fabric: rdma, or fabric: tcp if that is intended; a cluster without a fabric needs one first, "
        "or fabric: {type: none} if the NICs are not connected"
    ),
    source="docs/jobs.md; docs/fabric.md",
    layer="run",
    severity=Severity.WARNING,
)


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield pods that the fabric's NICs are far from, that the kubelet refuses for them, or that use none."""
    worker, cluster = run.specs[0], run.run.cluster
    if wants_rdma(run.run.job, worker):
        yield from check_part(run, worker, cluster)
        yield from check_hints(run, worker, cluster)
    else:
        yield from check_unused(run, worker, cluster)


def check_part(run: Resolved, worker: RoleSpec, cluster: Cluster) -> Iterator[Finding]:
    """Yield RDMA for a part of a node, where every such pod has the first rails."""
    gpus, name = available(worker.pool).gpus, worker.pool_name
    aligned = reports_numa(cluster, name)
    if not has_verbs(cluster) or attach(cluster) == HOST or (one_for_all(cluster) and aligned):
        return
    if not 0 < worker.gpus < gpus:
        return
    refused = aligned and aligns(worker.pool)
    end = "the node rejects a second pod" if refused else "a second pod's NICs are far from its GPUs"
    message = f"fabric is 'rdma' with {worker.gpus} of {gpus} GPUs: {end}; use whole nodes"
    severity = Severity.ERROR if refused else Severity.WARNING
    yield RATIO.at(run.run.source, ("gpusPerNode",), message, severity=severity)


def check_hints(run: Resolved, worker: RoleSpec, cluster: Cluster) -> Iterator[Finding]:
    """Yield pods of several NUMA nodes whose NICs, of one resource for all, one NUMA node could give.

    Of a resource a rail the cluster's own check speaks.
    """
    pool, name = worker.pool, worker.pool_name
    if not one_for_all(cluster) or not aligns(pool) or not reports_numa(cluster, name):
        return
    nodes = numa_nodes(pool.node)
    wide = worker.gpus > max(len(numa.gpus) for numa in nodes)
    most = max(
        sum(functions_per_node(cluster, pool, pool.node.nics[index].rail) for index in numa.nics) for numa in nodes
    )
    wanted = len(rails_of(cluster, name, worker.gpus))
    if wide and wanted <= most:
        message = (
            f"{worker.gpus} GPUs need several NUMA nodes, but one could provide {wanted} NICs, so the "
            "kubelet rejects the pod"
        )
        yield HINTS.at(run.run.source, ("gpusPerNode",), message)


def check_unused(run: Resolved, worker: RoleSpec, cluster: Cluster) -> Iterator[Finding]:
    """Yield several pods with GPUs whose job is silent about the fabric that they do not use."""
    job, fabric = run.run.job, cluster.fabric
    pods = sum(role.nodes for role in run.specs if role.ranks and role.gpus)
    if pods < 2 or "fabric" in job.model_fields_set:
        return
    if fabric is None:
        if adapters := training_adapters(worker.pool):
            message = (
                f"training uses TCP: pool {worker.pool_name!r} has {adapters}, but the cluster declares no fabric; "
                "add it, or fabric: tcp"
            )
            yield UNUSED.at(run.run.source, ("pool",), message)
    elif fabric_type(cluster).reaches(cluster, worker.pool_name):
        message = (
            f"the job trains over TCP, but pool {worker.pool_name!r} is on the fabric ({fabric.type}); add fabric: rdma"
        )
        yield UNUSED.at(run.run.source, ("pool",), message)
    elif worker.pool_name in fabric.pools and fabric.type != "none":
        message = f"pods of pool {worker.pool_name!r} are not attached to its {fabric.type}; add fabric: tcp"
        yield UNUSED.at(run.run.source, ("pool",), message)


def training_adapters(pool: Pool) -> str | None:
    """Return in words what a machine of the pool has for training traffic, None where its shape names nothing."""
    if pool.node.nics:
        return f"{len(pool.node.nics)} NICs"
    count = pool.node.devices.get(EFA_DEVICE, 0)
    return f"{count} EFA devices" if count else None
