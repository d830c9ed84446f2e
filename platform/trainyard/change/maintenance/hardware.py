"""Objects of `hardware/` that change, and the nodes that their operators take out for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.documents.differences import field_changes
from trainyard.base.findings import format_path
from trainyard.base.manifests import value_at
from trainyard.change.maintenance.outage import Ends, Outage, bounded, number, scaled
from trainyard.render.operators import amd_gpu_operator, gpu_drivers
from trainyard.render.sizing.fabrics.plan import pools as fabric_pools
from trainyard.render.sizing.software import installs
from trainyard.specs import Cluster

Pair = tuple[Any, Any]
"""An object before and after a change; None on a side that has it not."""

GPU_PODS: Ends = "pods with GPUs"
ALL: Ends = "all pods"

OF_FUNCTIONS = (
    "deviceType",
    "eSwitchMode",
    "isRdma",
    "linkType",
    "mtu",
    "nicSelector",
    "nodeSelector",
    "numVfs",
    "vdpaType",
)
"""Fields of a SriovNetworkNodePolicy for which functions are made again (api/v1/helper.go NeedToUpdateSriov)."""

DRIFTS = {"EC2NodeClass": ("spec",), "NodePool": ("spec", "template")}
"""Parts of Karpenter's objects of which nodes drift (v1.15.0 pkg/controllers/nodeclaim/disruption/drift.go)."""


def outages(cluster: Cluster, pairs: Iterable[Pair]) -> Iterator[Outage]:
    """Yield the outages that follow from objects of a cluster's `hardware/` which change.

    A new object configures new nodes, or nodes that were not configured, and drains none.
    """
    found = [(old, new) for old, new in pairs if isinstance(old, Mapping) and old != new]
    for old, new in found:
        kind = old.get("kind")
        reader = READERS.get(kind) if isinstance(kind, str) else None
        if reader is not None and isinstance(new, Mapping):
            yield from reader(cluster, old, new)
    yield from functions(cluster, found)
    yield from started(cluster, found)


def nvidia(cluster: Cluster, old: Any, new: Any) -> Iterator[Outage]:
    """Yield the nodes that get another driver of NVIDIA's GPUs by the ClusterPolicy."""
    names = tuple(name for name, install in installs(cluster).items() if install.driver == "operator")
    off = value_at(new, ("spec", "sandboxWorkloads", "enabled")) is True
    if not gpu_drivers.by_pool(cluster):
        yield from driver(cluster, "driver of NVIDIA GPUs", names, *drivers(old, new), ignored=off)


def nvidia_of_pool(cluster: Cluster, old: Any, new: Any) -> Iterator[Outage]:
    """Yield the nodes that get another driver by an NVIDIADriver, which has the name of their pool."""
    name = value_at(new, ("metadata", "name"))
    names = (name,) if name in cluster.pools else ()
    yield from driver(cluster, "driver of NVIDIA GPUs", names, value_at(old, ("spec",)), value_at(new, ("spec",)))


def drivers(old: Any, new: Any) -> tuple[Any, Any]:
    """Return the sections of the driver of two ClusterPolicies."""
    return value_at(old, ("spec", "driver")), value_at(new, ("spec", "driver"))


def driver(
    cluster: Cluster, title: str, names: tuple[str, ...], old: Any, new: Any, *, ignored: bool = False
) -> Iterator[Outage]:
    """Yield the nodes whose NVIDIA driver changes: its DaemonSet replaces pods on deletion alone.

    With autoUpgrade the operator cordons nodes and evicts their pods with GPUs, by a drain helper that refuses pods
    with an emptyDir; then it drains, if it may, or gives up (NVIDIA/gpu-operator v26.7.0 controllers/
    upgrade_controller.go, vendor/github.com/NVIDIA/k8s-operator-libs/pkg/upgrade/pod_manager.go).
    """
    what = described(title, old, new)
    if not what or not names:
        return
    policy, nodes = value_at(new, ("upgradePolicy",)), count(cluster, names)
    if ignored or value_at(policy, ("autoUpgrade",)) is not True:
        how = "deletes the driver's pod of a node, which first ends the pods with GPUs there (autoUpgrade is off)"
        yield Outage(what, names, nodes, "a person", how, GPU_PODS, then="the driver's pod waits for them")
        return
    drains = value_at(policy, ("drain", "enable")) is True
    last = "drain" if drains else "podDeletion"
    keeps = value_at(policy, (last, "deleteEmptyDir")) is not True
    if drains:
        keeps = keeps and value_at(policy, ("podDeletion", "deleteEmptyDir")) is not True
    seconds = number(value_at(policy, (last,)), "timeoutSeconds", 300)
    how = "cordons a node, evicts its pods with GPUs and replaces the driver, in no order"
    wait = value_at(policy, ("waitForCompletion", "podSelector"))
    if wait:
        bound = number(value_at(policy, ("waitForCompletion",)), "timeoutSeconds", 0)
        until = f"for {bound} seconds" if bound else "without end"
        how = f"cordons a node, waits {until} for pods with {wait}, evicts those with GPUs and replaces the driver"
    yield Outage(
        what,
        names,
        nodes,
        "the GPU Operator",
        how,
        GPU_PODS,
        bounded(policy, "maxUnavailable", nodes),
        seconds or None,
        "the node is upgrade-failed, and stays cordoned with the old driver until a person acts",
        keeps_local=keeps,
    )


def amd(cluster: Cluster, old: Any, new: Any) -> Iterator[Outage]:
    """Yield the nodes whose AMD driver changes (ROCm/gpu-operator v1.5.1 internal/controllers/upgrademgr.go)."""
    name = value_at(new, ("metadata", "name"))
    before, after = value_at(old, ("spec", "driver")), value_at(new, ("spec", "driver"))
    what = described("driver of AMD GPUs", before, after)
    if name not in amd_gpu_operator.pools(cluster) or not what or value_at(after, ("enable",)) is not True:
        return
    policy, nodes = value_at(after, ("upgradePolicy",)), count(cluster, (name,))
    if value_at(policy, ("enable",)) is not True:
        how = "drains a node and labels it with the new release (upgradePolicy is off)"
        yield Outage(what, (name,), nodes, "a person", how, GPU_PODS)
        return
    drain, deletion = value_at(policy, ("nodeDrainPolicy",)), value_at(policy, ("podDeletionPolicy",))
    restarts = " and restarts it" if value_at(policy, ("rebootRequired",)) is not False else ""
    verb = "evicts" if drain is not None or deletion is None else "deletes"
    seconds = number(drain if drain is not None else deletion, "timeoutSeconds", 300)
    yield Outage(
        what,
        (name,),
        nodes,
        "AMD's GPU Operator",
        f"cordons a node, {verb} its pods with GPUs, replaces the driver{restarts}, in the order of the list of nodes",
        GPU_PODS,
        bounded(policy, "maxUnavailableNodes", nodes),
        seconds or None,
        "the node stays cordoned, and counts against maxUnavailableNodes",
        budgets=verb == "evicts",
    )


def ofed(cluster: Cluster, old: Any, new: Any) -> Iterator[Outage]:
    """Yield the nodes whose driver of NICs changes; all their pods are evicted.

    Mellanox/network-operator v26.4.1 api/v1alpha1/nicclusterpolicy_types.go DriverUpgradePolicySpec: drain is on by
    default, there is no bound of unavailable nodes; manifests/state-ofed-driver: OnDelete.
    """
    before, after = value_at(old, ("spec", "ofedDriver")), value_at(new, ("spec", "ofedDriver"))
    what = described("driver of NICs", before, after)
    names = tuple(name for name in fabric_pools(cluster) if cluster.system_of(name).nic_driver == "operator")
    if not what or not names or before is None or after is None:
        return
    policy, nodes = value_at(after, ("upgradePolicy",)), count(cluster, names)
    if value_at(policy, ("autoUpgrade",)) is not True:
        how = "drains a node and deletes the driver's pod there (autoUpgrade is off)"
        yield Outage(what, names, nodes, "a person", how, ALL)
        return
    yield Outage(
        what,
        names,
        nodes,
        "the Network Operator",
        "cordons a node, evicts all its pods and replaces the driver, in no order",
        ALL,
        bounded(policy, "maxUnavailable", nodes, default=None),
        number(value_at(policy, ("drain",)), "timeoutSeconds", 300) or None,
        "the node is upgrade-failed, and stays cordoned with the old driver until a person acts",
        keeps_local=value_at(policy, ("drain", "deleteEmptyDir")) is not True,
    )


def functions(cluster: Cluster, pairs: Iterable[Pair]) -> Iterator[Outage]:
    """Yield the nodes whose virtual functions are made again: as many as the pool's configuration allows at a time.

    k8snetworkplumbingwg/sriov-network-operator v1.6.0 pkg/drain/drainer.go: pods that ask for functions are evicted,
    for 90 seconds at a time and without end; a policy that is gone resets its NICs.
    """
    fields: dict[str, set[str]] = {}
    for old, new in pairs:
        if old.get("kind") != "SriovNetworkNodePolicy":
            continue
        one, two = (value_at(side, ("spec",)) or {} for side in (old, new))
        changed = {field for field in OF_FUNCTIONS if one.get(field) != two.get(field)}
        for pool in fabric_pools(cluster):
            if changed and cluster.selector_of(pool).items() <= (one.get("nodeSelector") or {}).items():
                fields.setdefault(pool, set()).update(changed if new is not None else {"its removal"})
    for pool, named in fields.items():
        yield Outage(
            f"virtual functions of NICs ({', '.join(sorted(named))})",
            (pool,),
            cluster.pools[pool].nodes,
            "the SR-IOV operator",
            "cordons a node, evicts its pods with virtual functions and makes these again, in no order",
            "pods with virtual functions",
            scaled(1, cluster.pools[pool].nodes),
            None,
        )


def started(cluster: Cluster, pairs: Iterable[Pair]) -> Iterator[Outage]:
    """Yield the nodes that Karpenter finds drifted: by the budget of its NodePool they go once they are empty."""
    names = {
        value_at(old, ("metadata", "name"))
        for old, new in pairs
        if (part := DRIFTS.get(str(old.get("kind")))) and new is not None and value_at(old, part) != value_at(new, part)
    }
    for name in cluster.pools:
        if name in names and cluster.is_karpenters(name):
            yield drifted("nodes of another kind (Karpenter's drift)", cluster, name)


def drifted(what: str, cluster: Cluster, name: str) -> Outage:
    """Return the outage of a pool whose nodes Karpenter replaces, which ends no run."""
    how = "keeps drifted nodes with pods (budget 0) and ends those without; new nodes are as the file says"
    return Outage(what, (name,), cluster.pools[name].nodes, "Karpenter", how, "no pods")


def described(title: str, old: Any, new: Any) -> str:
    """Return the change of a driver in words: its releases, or the fields that differ; nothing where none does.

    How it is upgraded is no part of it.
    """
    one, two = ({key: value for key, value in (side or {}).items() if key != "upgradePolicy"} for side in (old, new))
    if one == two:
        return ""
    if one.get("version") != two.get("version"):
        return f"{title} {one.get('version') or 'of the default'} → {two.get('version') or 'of the default'}"
    fields = list(dict.fromkeys(format_path(item.way) for item in field_changes(one, two)))
    return f"settings of the {title} ({', '.join(fields[:3])})"


def count(cluster: Cluster, names: Iterable[str]) -> int:
    """Return the nodes of some pools."""
    return sum(cluster.pools[name].nodes for name in names)


READERS: Mapping[str, Callable[[Cluster, Any, Any], Iterator[Outage]]] = {
    "ClusterPolicy": nvidia,
    "DeviceConfig": amd,
    "NVIDIADriver": nvidia_of_pool,
    "NicClusterPolicy": ofed,
}
