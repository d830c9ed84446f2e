"""What is wrong with a fabric's NICs as devices: their names, how they are found, and what they tell the kubelet."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.fabrics.devices import advertiser, by_type, reports_numa, resource_prefix
from trainyard.render.sizing.fabrics.plan import pools
from trainyard.render.sizing.fabrics.rails import every_rail, has_verbs, one_for_all, rails
from trainyard.render.sizing.node import aligns, numa_nodes
from trainyard.specs import Cluster, Fabric, Pool
from trainyard.specs.releases import releases
from trainyard.specs.shapes import Shape
from trainyard.specs.sources import Source

KUBELET = "kubernetes v1.35 pkg/kubelet/cm"

MOST_HINTS = 10**6
"""Combinations of hints that the kubelet walks through in about a second, under the lock of admission."""

FOREIGN = Rule(
    id="rdma-resource-foreign",
    title=(
        "If another operator advertises the NICs, fabric.resources names them: one resource for all, or one per rail."
    ),
    why="pods would request devices that no node has, and would wait for ever although their quota is free",
    fix="set fabric.resources to the names that nodes advertise (kubectl describe node)",
    source="Azure/aks-rdma-infiniband configs; NVIDIA network-operator documentation v26.4 examples",
)
PREFIX = Rule(
    id="rdma-resource-prefix",
    title="A device resource has its operator's prefix and a valid name.",
    why="otherwise nodes advertise a different resource from the one that pods request",
    fix="write the operator's prefix, then letters, digits and '_'",
    source="k8snetworkplumbingwg/sriov-network-operator v1.6.0 pkg/webhook/validate.go",
)
FOUND = Rule(
    id="rdma-pfnames-netdev",
    title=(
        "NICs are selected by the PCI addresses or network devices of the nodes, not by RDMA devices or assumed "
        "addresses."
    ),
    why="a selector that matches no NIC creates no device: every job on the fabric waits for ever, without an error",
    fix="set the pool's pci (lspci -D) or interfaces (ls /sys/class/infiniband/*/device/net)",
    source="k8snetworkplumbingwg/sriov-network-operator v1.6.0 api/v1/helper.go",
    may_warn=True,
)
EXCLUDED = Rule(
    id="numa-vf-excluded",
    title="Where every rail has its own resource and the kubelet aligns devices, the devices hide their NUMA node.",
    why=(
        "the kubelet refuses pods that span NUMA nodes (TopologyAffinityError), since no rail spans all NUMA nodes "
        "of the GPUs"
    ),
    fix="exclude the topology in the device plugin and set excludeTopology: true, or use one resource for all NICs",
    source=f"{KUBELET}/topologymanager/policy.go mergePermutation",
    layer="node",
    may_waive=True,
)
EXPLOSION = Rule(
    id="numa-hint-explosion",
    title="The kubelet tries at most a million combinations of NUMA nodes for one pod.",
    why="it tries them all while holding the admission lock: the node stays Ready but starts no more pods",
    fix="exclude the topology in the device plugin and set excludeTopology: true",
    source=f"{KUBELET}/topologymanager/policy.go iterateAllProviderTopologyHints",
    layer="node",
)


@CLUSTER.check(after=("inventory.check_shapes",))
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the findings on devices that are missing, or that pods cannot get; ids are the catalogue's."""
    fabric = cluster.fabric
    if fabric is None or not has_verbs(cluster):
        return
    yield from check_names(cluster, fabric, source)
    yield from check_apart(cluster, fabric, source)
    for name, pool in pools(cluster).items():
        yield from check_found(cluster, fabric, (name, pool), source)
        yield from check_numa(cluster, (name, pool), source)


def check_names(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield resources that nobody has named, that are too many or too few, or that our operator cannot advertise.

    Where no operator is there at all, the inventory says so.
    """
    count, said, ours = len(every_rail(cluster)), fabric.resources, advertiser(cluster)
    if not said and ours is None and attachable(cluster, fabric):
        message = f"attach is {fabric.attach!r}, and another operator advertises the NICs; set resources to their names"
        yield FOREIGN.at(source, ("fabric", "attach"), message)
    if said and (len(said) not in {1, count} or len(set(said)) != len(said)):
        message = f"resources has {len(set(said))} names for {count} rails; use one for all, or one per rail"
        yield FOREIGN.at(source, ("fabric", "resources"), message)
    prefix = resource_prefix(cluster)
    for index, resource in enumerate(said if prefix is not None else ()):
        of, _, name = resource.partition("/")
        if of != prefix or not name.replace("_", "").isalnum():
            message = f"resource {resource!r} is not advertised by {ours}; write {prefix}/ and letters or '_'"
            yield PREFIX.at(source, ("fabric", "resources", index), message)


def attachable(cluster: Cluster, fabric: Fabric) -> bool:
    """Whether any operator of the cluster, ours or not, attaches pods as the fabric says."""
    return any(fabric.attach in facts.attaches for name, facts in releases().items() if name in cluster.operators)


def check_found(cluster: Cluster, fabric: Fabric, of: tuple[str, Pool], source: Source) -> Iterator[Finding]:
    """Yield NICs that our policies and networks could not select, and addresses of a shape that nobody has seen."""
    name, pool = of
    path: Path = ("pools", name)
    there = [nic for nic in pool.node.nics if nic.rail in rails(cluster, name)]
    by_pci, by_name = all(nic.pci for nic in there), all(nic.interface for nic in there)
    ours = advertiser(cluster) is not None
    wanted = {
        "sriov": ("pci or interfaces", by_pci or by_name or not ours),
        "hostdev": ("pci", by_pci or not ours),
        "rdma-shared": ("nicType", bool(pool.node.nic_type) or not ours)
        if by_type(cluster)
        else ("interfaces", by_name or not ours),
        "macvlan": ("interfaces", by_name),
    }
    field, enough = wanted.get(fabric.attach, ("", True))
    written = {"interfaces": pool.interfaces, "pci": pool.pci}
    if not enough and any(written[one] for one in field.split(" or ") if one in written):
        return  # a list of another length than the NICs, which `spec/pci` tells
    if not enough:
        way = "write what `lspci -n` prints" if field == "nicType" else "list one for each NIC of a node"
        message = f"pool {name!r} needs {field} for attach {fabric.attach!r}; {way}"
        yield FOUND.at(source, path, message, key=True)
    elif by_pci and not pool.pci and ours and not isinstance(pool.shape, Shape) and pool.node.assumes("pci"):
        message = f"PCI addresses of shape {pool.shape!r} are assumed; set pci to those of your nodes"
        yield FOUND.at(source, (*path, "shape"), message, severity=Severity.WARNING)


def check_apart(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield pools whose NICs one configuration for all nodes cannot tell apart: one name or address, two rails."""
    field = {"hostdev": "pci", "rdma-shared": "interface", "macvlan": "interface"}.get(fabric.attach)
    if field is None or (fabric.attach != "macvlan" and (advertiser(cluster) is None or one_for_all(cluster))):
        return
    seen: dict[str, tuple[str, int]] = {}
    names: dict[int, tuple[str, str]] = {}
    for name, pool in pools(cluster).items():
        for nic in pool.node.nics:
            value = getattr(nic, field)
            if value is None:
                continue
            first, rail = seen.setdefault(value, (name, nic.rail))
            master, known = names.setdefault(nic.rail, (name, value))
            if rail != nic.rail:
                message = f"{value} is on rail {rail} of pool {first!r}, but on rail {nic.rail} of pool {name!r}"
                yield FOUND.at(source, ("pools", name), message, key=True)
                return
            if fabric.attach == "macvlan" and known != value and master != name:
                message = (
                    f"rail {rail} is {known} in pool {master!r}, but {value} in {name!r}; use the same device name"
                )
                yield FOUND.at(source, ("pools", name), message, key=True)
                return


def check_numa(cluster: Cluster, of: tuple[str, Pool], source: Source) -> Iterator[Finding]:
    """Yield devices that tell the kubelet where they hang, where it would refuse pods for it, or never be done.

    Where no operator is there at all nothing is known of devices yet, and ours would not tell.
    """
    name, pool = of
    fabric = cluster.fabric
    if fabric is None or not (fabric.resources or attachable(cluster, fabric)):
        return
    policy = pool.kubelet.topology_manager_policy if pool.kubelet else "none"
    if policy == "none" or one_for_all(cluster) or not reports_numa(cluster, name):
        return
    at = "excludeTopology" if fabric.exclude_topology is not None else "attach"
    if hints(cluster, name) > MOST_HINTS:
        message = (
            f"devices of {len(rails(cluster, name))} rails on pool {name!r} give the kubelet too many combinations"
            "; set excludeTopology: true"
        )
        yield EXPLOSION.at(source, ("fabric", at), message)
    elif aligns(pool):
        message = (
            f"kubelets of pool {name!r} use {policy!r} and reject pods because of the NICs' NUMA nodes; set "
            "excludeTopology: true"
        )
        yield EXCLUDED.at(source, ("fabric", at), message)


def hints(cluster: Cluster, pool_name: str) -> int:
    """Return how many combinations of hints the kubelet tries for a pod on all rails.

    A device of a rail is to be had of every set of NUMA nodes that its own is in.
    """
    choices = 2 ** (len(numa_nodes(cluster.pools[pool_name].node)) - 1)
    return int(choices ** len(rails(cluster, pool_name)))
