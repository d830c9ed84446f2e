"""Whether operators and settings of nodes go together with the distribution of a cluster's nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.base.versions import order
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.fabrics.devices import needs_ipoib
from trainyard.render.sizing.fabrics.rails import on_fabric
from trainyard.render.sizing.software import installs, is_foreign, refusal
from trainyard.specs import Cluster, Kubelet
from trainyard.specs.distributions import Distribution
from trainyard.specs.releases import release
from trainyard.specs.releases.facts import lookup
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

GPU_OPERATOR = "gpu-operator"

DOCS = "docs/reference/distributions.md"

EXCLUDED = Rule(
    id="pairing/distribution",
    title="Operators are installed on distributions that they work on.",
    why="the distribution has the same software, refuses such daemons, or has machines without the devices",
    fix="leave the operator to the distribution: managed: false, or remove it",
    source=DOCS,
    layer="pairing",
)
DRIVER = Rule(
    id="pairing/gpu-driver",
    title="NVIDIA's driver is installed by the one who can install it on the distribution.",
    why="the driver's container cannot build or load its modules, so the node never advertises a GPU",
    fix="remove gpuDriver, and driver.enabled and toolkit.enabled from the operator's values",
    source=DOCS,
    layer="pairing",
)
NICS = Rule(
    id="pairing/nic-driver",
    title="The driver of NICs is one that nodes of the distribution can have.",
    why="no container can build or load modules there, so the node never advertises a NIC",
    fix="remove nicDriver",
    source=DOCS,
    layer="pairing",
)
VERSION = Rule(
    id="pairing/distribution-version",
    title="A release is named only of a distribution whose files for nodes depend on it.",
    why="nothing reads it: files for nodes are the same for all releases",
    fix="remove distributionVersion",
    source=DOCS,
    layer="pairing",
)
IPOIB = Rule(
    id="pairing/ipoib",
    title="Pods get interfaces of InfiniBand, or NICs by their names, only where the kernel makes network devices.",
    why="no NIC has a name, so nodes never advertise the resource or pods never get their interface",
    fix="set attach to rdma-shared and fabric.resources to one name, which finds NICs by nicType, or upgrade nodes",
    source=DOCS,
    layer="pairing",
)
ONE_INSTALL = Rule(
    id="pairing/one-gpu-install",
    title="Pools with NVIDIA GPUs get driver and container toolkit in the same way.",
    why="one ClusterPolicy holds for all nodes of a cluster, so the nodes of one pool would get no GPU",
    fix="give the pools the same distribution and gpuDriver, or make two clusters",
    source="NVIDIA/gpu-operator v26.7.0 api/nvidia/v1/clusterpolicy_types.go",
    layer="pairing",
)
FIELD = Rule(
    id="node/kubelet-field",
    title="The owner of the nodes lets one set each field of the kubelet.",
    why="nobody can set the field on such nodes, so pods would be placed otherwise than checked",
    fix="remove the field",
    source=DOCS,
    layer="node",
)
FILE = Rule(
    id="node/file",
    title="Settings of nodes are made by files only where nodes take such files.",
    why="nothing would lift the limit on locked memory, or open the devices",
    fix="choose another way: memlock: provided or nri, deviceAccess: open or the IDs of groups",
    source=DOCS,
    layer="node",
)

PARTS = {"driver": "driver", "toolkit": "toolkit", "devicePlugin": "device plugin"}
"""Sections of the GPU Operator's values for what the nodes of a distribution may have, and what each is called."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield operators and settings of nodes that the distribution does not allow."""
    yield from check_operators(cluster, source)
    yield from check_driver(cluster, source)
    yield from check_values(cluster, source)
    for name in cluster.pools:
        yield from check_kubelet(cluster, name, source)
        yield from check_devices(cluster, name, source)
        yield from check_nics(cluster, name, source)
    yield from check_ipoib(cluster, source)
    yield from check_versions(cluster, source)
    yield from check_memory(cluster, source)


def check_operators(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield operators of ours that the cluster's distribution excludes."""
    for name, choice in cluster.operators.items():
        found = refusal(cluster.distribution, name)
        if found is not None and (choice.managed or is_foreign(cluster.distribution, name)):
            message = f"{name} cannot be installed on {cluster.distribution.title}: {found.why}; {found.instead}"
            yield EXCLUDED.at(source, ("operators", name), message, key=True, source=found.source)
        elif found is None and choice.managed and lacks_devices(cluster, name):
            message = f"{name} advertises devices that no pool has; remove it"
            yield EXCLUDED.at(source, ("operators", name), message, key=True)


def lacks_devices(cluster: Cluster, operator: str) -> bool:
    """Whether an operator advertises devices of a cloud's machines alone, and runs where no pool has them.

    On the cloud's own service pools with them may come later.
    """
    facts = release(operator)
    if facts is None or facts.provider is None or cluster.distribution.provider is not None:
        return False
    known = [pool.node for pool in cluster.pools.values() if is_known_shape(pool.shape)]
    prefix = facts.resource_prefix
    there = any(name.partition("/")[0] == prefix for node in known for name in node.devices)
    return prefix is not None and len(known) == len(cluster.pools) and not there


def check_driver(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield drivers from where they cannot come, and pools that one ClusterPolicy cannot serve together."""
    if cluster.operators.get(GPU_OPERATOR) is None:
        return
    found = installs(cluster)
    for name, install in found.items():
        facts = cluster.distribution_of(name)
        if install.driver not in facts.gpus.driver:
            who = "the GPU Operator" if facts.gpus.driver[0] == "operator" else "the node's image"
            message = f"gpuDriver is {install.driver!r}, but on {facts.title} only {who} installs the driver; remove it"
            yield DRIVER.at(source, system_path(cluster, name, "gpu_driver"), message)
    first, *others = [*found] or [""]
    for name in others:
        if found[name].values != found[first].values and cluster.operators[GPU_OPERATOR].managed:
            message = (
                f"pools {first!r} and {name!r} need different ClusterPolicies, but a cluster has one; use one "
                "distribution and gpuDriver"
            )
            yield ONE_INSTALL.at(source, ("pools", name), message, key=True)


def check_values(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield values that install again what the nodes have."""
    choice = cluster.operators.get(GPU_OPERATOR)
    if choice is None or not choice.managed:
        return
    for name, install in list(installs(cluster).items())[:1]:
        for section, called in PARTS.items():
            if not install.values[section]["enabled"] and lookup(choice.values, f"{section}.enabled") is True:
                title = cluster.distribution_of(name).title
                message = f"{section}.enabled is true, but nodes on {title} have the {called} already; remove it"
                yield DRIVER.at(source, ("operators", GPU_OPERATOR, "values", section, "enabled"), message)


def check_kubelet(cluster: Cluster, name: str, source: Source) -> Iterator[Finding]:
    """Yield fields of a pool's kubelet that its distribution lets nobody set."""
    kubelet, facts = cluster.pools[name].kubelet, cluster.distribution_of(name)
    if kubelet is None or facts.kubelet_fields is None:
        return
    for field, info in Kubelet.model_fields.items():
        key = info.alias or field
        if key not in facts.kubelet_fields and getattr(kubelet, field) != info.get_default(call_default_factory=True):
            message = f"{key} cannot be set on {facts.title}; remove it"
            yield FIELD.at(source, ("pools", name, "kubelet", key), message)


def check_devices(cluster: Cluster, name: str, source: Source) -> Iterator[Finding]:
    """Yield rules of udev for nodes that take none."""
    facts = cluster.distribution_of(name)
    if cluster.pools[name].device_access == "udev" and "udev" not in facts.node_files:
        message = f"{facts.title} takes no rules of udev for its nodes, which deviceAccess 'udev' needs; list groups"
        yield FILE.at(source, ("pools", name, "deviceAccess"), message)


def check_nics(cluster: Cluster, name: str, source: Source) -> Iterator[Finding]:
    """Yield a driver of NICs that nodes of a pool cannot have."""
    facts, said = cluster.distribution_of(name), cluster.system_of(name).nic_driver
    if facts.nic_driver is not None and said not in (None, facts.nic_driver):
        message = f"nicDriver is {said!r}, but nodes on {facts.title} have the kernel's own alone; remove it"
        yield NICS.at(source, system_path(cluster, name, "nic_driver"), message)


def check_ipoib(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield network devices of InfiniBand that pods get or NICs are found by, where no kernel makes them."""
    fabric = cluster.fabric
    if fabric is None or not needs_ipoib(cluster):
        return
    for name, pool in cluster.pools.items():
        facts, version = cluster.distribution_of(name), cluster.system_of(name).distribution_version or ""
        first = facts.modules.ipoib
        if first is None or order(version) >= order(first) or not on_fabric(cluster, name):
            continue
        without = f"{facts.title} {version} has no IPoIB network devices"
        if fabric.attach != "rdma-shared":
            message = f"{without}, which attach {fabric.attach!r} needs; use rdma-shared"
            yield IPOIB.at(source, ("fabric", "attach"), message)
            return
        if all(nic.interface for nic in pool.node.nics):
            field = "interfaces" if pool.interfaces else "shape"
            message = f"{without}; use one name in fabric.resources"
            yield IPOIB.at(source, ("pools", name, field), message, key=True)


def check_versions(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a release of a distribution whose files are the same for all releases."""
    places: dict[Path, Distribution] = {}
    if cluster.system.distribution_version:
        places["system",] = cluster.distribution
    for name, pool in cluster.pools.items():
        if pool.system.distribution_version:
            places["pools", name, "system"] = cluster.distribution_of(name)
    for path, facts in places.items():
        if facts.version is None:
            message = f"distributionVersion is not used with {facts.title}; remove it"
            yield VERSION.at(source, (*path, "distributionVersion"), message, key=True)


def check_memory(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a limit on locked memory that no file for the nodes can lift, once for all pools."""
    if cluster.fabric is None or cluster.fabric.memlock != "node":
        return
    for name in cluster.pools:
        facts = cluster.distribution_of(name)
        if locks_memory(cluster, name) and "memlock" not in facts.node_files:
            message = f"{facts.title} takes no file for nodes of {name!r}, which memlock 'node' needs; set memlock: nri"
            yield FILE.at(source, ("fabric", "memlock"), message)
            return


def locks_memory(cluster: Cluster, name: str) -> bool:
    """Whether pods on a pool lock memory for the fabric."""
    kind = fabric_type(cluster)
    return kind.locks_memory and kind.reaches(cluster, name)


def system_path(cluster: Cluster, name: str, field: str) -> Path:
    """Return the place where a pool's system says a field: its own, else the cluster's."""
    own = getattr(cluster.pools[name].system, field) is not None
    key = {"gpu_driver": "gpuDriver", "nic_driver": "nicDriver"}.get(field, field)
    return ("pools", name, "system", key) if own else ("system", key)
