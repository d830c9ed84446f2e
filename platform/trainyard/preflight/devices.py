"""What is wrong with a fabric's NICs as devices: their names, how they are found, and what they tell the kubelet."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.documents import Path
from trainyard.findings import Finding, Severity
from trainyard.releases import releases
from trainyard.rules import Rule
from trainyard.sizing.fabrics.devices import advertiser, reports_numa, resource_prefix
from trainyard.sizing.fabrics.plan import pools
from trainyard.sizing.fabrics.rails import every_rail, has_verbs, one_for_all, rails
from trainyard.sizing.node import aligns, numa_nodes
from trainyard.specs import Cluster, Fabric, Pool
from trainyard.specs.shapes import Shape
from trainyard.specs.sources import Source

KUBELET = "kubernetes v1.35 pkg/kubelet/cm"

MOST_HINTS = 10**6
"""Combinations of hints that the kubelet walks through in about a second, under the lock of admission."""

FOREIGN = Rule(
    id="rdma-resource-foreign",
    title="Devices that others advertise are named: one resource for all NICs, or one a rail.",
    why="pods would ask for devices that no node has, and quota that covers them hides it: they are never admitted",
    fix="write in fabric.resources what nodes advertise (kubectl describe node)",
    source="Azure/aks-rdma-infiniband configs; NVIDIA network-operator documentation v26.4 examples",
)
PREFIX = Rule(
    id="rdma-resource-prefix",
    title="A resource has the prefix of the operator that advertises it, and a name that it takes.",
    why="nodes would advertise another resource than pods ask for",
    fix="write the operator's prefix, then letters, digits and '_'",
    source="k8snetworkplumbingwg/sriov-network-operator v1.6.0 pkg/webhook/validate.go",
)
FOUND = Rule(
    id="rdma-pfnames-netdev",
    title="NICs are found by PCI addresses or network devices that nodes have, not by RDMA devices or guesses.",
    why="what selects no NIC makes no device, so every job on the fabric waits for ever, and nobody says so",
    fix="write pci (lspci -D) or interfaces (ls /sys/class/infiniband/*/device/net) for the pool",
    source="k8snetworkplumbingwg/sriov-network-operator v1.6.0 api/v1/helper.go",
    may_warn=True,
)
EXCLUDED = Rule(
    id="numa-vf-excluded",
    title="Devices of one rail each keep their NUMA node from a kubelet that aligns.",
    why="a pod wider than one NUMA node is refused (TopologyAffinityError): no rail hangs on all that its GPUs do",
    fix="have the device plugin exclude the topology and say excludeTopology: true, or name one resource for all NICs",
    source=f"{KUBELET}/topologymanager/policy.go mergePermutation",
    layer="node",
    may_waive=True,
)
EXPLOSION = Rule(
    id="numa-hint-explosion",
    title="The kubelet need not try more than a million combinations of NUMA nodes for a pod.",
    why="it tries all of them under the lock of admission: the node takes no pod any more, and stays Ready",
    fix="have the device plugin exclude the topology and say excludeTopology: true",
    source=f"{KUBELET}/topologymanager/policy.go iterateAllProviderTopologyHints",
    layer="node",
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield what keeps devices from being there, or pods from getting them; ids are the catalogue's."""
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
        message = f"attach is {fabric.attach!r}, and somebody else advertises the NICs; name their resources"
        yield FOREIGN.at(source, ("fabric", "attach"), message)
    if said and (len(said) not in {1, count} or len(set(said)) != len(said)):
        message = f"resources names {len(set(said))} resources for {count} rails; name one for all, or one a rail"
        yield FOREIGN.at(source, ("fabric", "resources"), message)
    prefix = resource_prefix(cluster)
    for index, resource in enumerate(said if prefix is not None else ()):
        of, _, name = resource.partition("/")
        if of != prefix or not name.replace("_", "").isalnum():
            message = f"resource {resource!r} is not one that {ours} advertises; write {prefix}/ and letters or '_'"
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
        "rdma-shared": ("interfaces", by_name or not ours),
        "macvlan": ("interfaces", by_name),
    }
    field, enough = wanted.get(fabric.attach, ("", True))
    if not enough:
        message = f"pool {name!r} needs {field} for attach {fabric.attach!r}; list one for each NIC of a node"
        yield FOUND.at(source, path, message, key=True)
    elif by_pci and not pool.pci and ours and not isinstance(pool.shape, Shape) and pool.node.assumes("pci"):
        message = f"PCI addresses of shape {pool.shape!r} are assumed; list those of your nodes in pci"
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
                    f"rail {rail} is {known} in pool {master!r}, but {value} in {name!r}; one network needs one name"
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
        message = f"devices of {len(rails(cluster, name))} rails on pool {name!r} freeze the kubelet; exclude topology"
        yield EXPLOSION.at(source, ("fabric", at), message)
    elif aligns(pool):
        message = f"kubelets of pool {name!r} are {policy!r}, and refuse pods for each rail's place; exclude topology"
        yield EXCLUDED.at(source, ("fabric", at), message)


def hints(cluster: Cluster, pool_name: str) -> int:
    """Return how many combinations of hints the kubelet tries for a pod on all rails.

    A device of a rail is to be had of every set of NUMA nodes that its own is in.
    """
    each = 2 ** (len(numa_nodes(cluster.pools[pool_name].node)) - 1)
    return int(each ** len(rails(cluster, pool_name)))
