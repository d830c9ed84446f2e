"""Prerequisites of nodes: their number, labels, taints, amounts and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from trainyard.base.findings import count_of
from trainyard.base.labels import HOSTNAME
from trainyard.base.versions import line
from trainyard.render.clusters import node_files, talos_forms
from trainyard.render.clusters.nodes import PROCESSES, few_processes, needs, striped
from trainyard.render.operators.install import bundlers
from trainyard.render.prerequisites.base import Prerequisite, Site, labels_text, names_text, of_pools
from trainyard.render.prerequisites.marks import marking
from trainyard.render.prerequisites.questions import (
    NodeKernel,
    NodeLabels,
    NodeOffers,
    NodeRelease,
    NodeRuntime,
    PoolNodes,
    ServerMinor,
)
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.gpus import MIG_CONFIG, PLUGIN_CONFIG
from trainyard.render.sizing.machines import kubelet_allocatable
from trainyard.render.sizing.node import GI, taints_of
from trainyard.render.sizing.nvlink import spans
from trainyard.upstream.pods.resources import CPU, EPHEMERAL_STORAGE, HUGE_PAGES, MEMORY, in_bytes, quantity_text
from trainyard.upstream.pods.taints import Taint

SETTERS = {
    "topology.k8s.aws/": "the cloud controller of EKS sets it on instance types that have a network topology",
    "cloud.google.com/gce-topology-": "GKE sets it on nodes of a compact placement",
    "nvidia.com/gpu.clique": "NVIDIA's GPU feature discovery sets it on nodes of an NVLink domain",
}
"""Who sets a label of the topology, by its prefix.

awsdocs/amazon-eks-user-guide and kubernetes/cloud-provider-aws, topology labels; NVIDIA/k8s-device-plugin v0.20.0
internal/lm/imex.go; GKE documentation, topology-aware scheduling.
"""

ZONES = {"topology.kubernetes.io/": "the cloud's controller sets it on every node; nothing is left to do"}
"""Region and zone, of nodes that a cloud provider makes (kubernetes v1.35 well_known_labels.go)."""


def release(site: Site) -> Iterator[Prerequisite]:
    """Yield the release of Kubernetes."""
    minor = site.cluster.minor
    yield Prerequisite(
        f"the API server runs Kubernetes {minor}, and no kubelet is newer or more than three minor versions older",
        "objects are rendered and checked for this release",
        ("kubernetes",),
        "upgrade the cluster, or correct the field",
        ServerMinor(minor),
    )
    for name, pool in site.cluster.pools.items():
        if pool.kubernetes is not None:
            yield Prerequisite(
                f"kubelets of {of_pools([name])} run Kubernetes {line(pool.kubernetes)}",
                "kubelets of this release admit pods and declare features otherwise than newer ones",
                ("pools", name, "kubernetes"),
                "correct the field, or remove it when all nodes are upgraded",
                NodeRelease(name, line(pool.kubernetes)),
            )
    if gates := site.cluster.feature_gates:
        on = ",".join(f"{gate}=true" for gate in gates)
        versions = ("v1beta1", "v1alpha3") if "CompositePodGroup" in gates else ("v1beta1",)
        served = ",".join(f"scheduling.k8s.io/{version}=true" for version in versions)
        yield Prerequisite(
            f"API server, controller manager and scheduler run with `--feature-gates={on}`, and the API server with "
            f"`--runtime-config={served}`",
            "without them the API server leaves out what Jobs say of their gang, and pods start one by one",
            ("featureGates",),
            "set the flags in the control plane, or remove `gang` and the field",
        )


def pools(site: Site) -> Iterator[Prerequisite]:
    """Yield number, taints and amounts of the nodes of each pool."""
    for name, pool in site.cluster.pools.items():
        if pool.scales:
            yield amounts(site, name)
            continue
        taints = taints_of(pool)
        words = (
            f"the taint{'s' if len(taints) > 1 else ''} {names_text([f'`{taint}`' for taint in taints])} and no other"
        )
        yield Prerequisite(
            f"{count_of(pool.nodes, 'node')} with {labels_text(site, name)} and {words if taints else 'no taint'}",
            "flavor and pods of the pool select this label and tolerate only these taints; the quota counts the nodes",
            ("pools", name),
            "; ".join([how_marked(site, name, taints), *(keep_labels(site, [name]) if pool.selector is None else ())]),
            PoolNodes(name, pool.nodes, taints),
        )
        yield amounts(site, name)


def how_marked(site: Site, name: str, taints: Sequence[Taint]) -> str:
    """Return how the nodes of a pool get the labels that select them, and their taints."""
    if site.cluster.pools[name].selector is None:
        return marking(site, name, site.cluster.selector_of(name), taints)
    labels = "have whoever makes the nodes set it, or correct `selector` of the pool"
    return "; ".join([labels, *([marking(site, name, {}, taints)] if taints else [])])


def keep_labels(site: Site, names: Sequence[str]) -> Iterator[str]:
    """Yield the places that keep labels of nodes beyond their Node objects, once for each way."""
    for place in dict.fromkeys(site.cluster.distribution_of(name).keep_labels for name in names):
        if place is not None:
            yield f"write it into {place} too, for nodes that join again"


def amounts(site: Site, name: str) -> Prerequisite:
    """Return the amounts that jobs and quota count on."""
    offered = kubelet_allocatable(site.cluster.pools[name])
    wanted = {key: value for key, value in offered.items() if key in (CPU, MEMORY, EPHEMERAL_STORAGE)}
    pages = {key: value for key, value in offered.items() if key.startswith(HUGE_PAGES) and is_used(site, name, key)}
    return Prerequisite(
        f"{of_pools([name])} offer at least {in_words({**wanted, **pages})}",
        "sizes of pods and quota follow from these amounts; a full pod fits on no smaller node",
        ("pools", name, "shape"),
        "correct the shape of the pool, or what the nodes reserve"
        + (origin(site, name) if pages else "")
        + disks(site, name),
        NodeOffers(name, {**wanted, **pages}),
    )


def origin(site: Site, pool: str) -> str:
    """Return who sets the huge pages of a pool's nodes aside."""
    if site.cluster.is_karpenters(pool):
        return "; the user data of the EC2NodeClass sets the huge pages aside"
    return f"; a file of `nodes/{pool}/` sets the huge pages aside"


def disks(site: Site, name: str) -> str:
    """Return how the kubelet's folder gets onto the local disks, where neither a file nor Karpenter does it."""
    cluster = site.cluster
    if striped(cluster, name) or cluster.is_karpenters(name):
        return ""
    return f"; local disks: {cluster.distribution_of(name).get_disks}" if cluster.pools[name].on_local_disks else ""


def is_used(site: Site, pool: str, resource: str) -> bool:
    """Whether pods on the fabric request a resource of the pool's nodes."""
    return resource in fabric_type(site.cluster).per_node(site.cluster, pool)


def in_words(wanted: dict[str, Fraction]) -> str:
    """Return amounts as text, such as `cpu 191450m, memory 1976Gi`."""
    return ", ".join(f"{name} {rounded_text(name, value)}" for name, value in wanted.items())


def rounded_text(name: str, value: Fraction) -> str:
    """Write an amount as Kubernetes does, bytes from 10 GiB on in whole GiB."""
    if in_bytes(name) and value >= 10 * GI:
        return quantity_text(name, value // GI * GI)
    return quantity_text(name, Decimal(value * 1000 // 1).scaleb(-3))


def labels(site: Site) -> Iterator[Prerequisite]:
    """Yield the labels by which Kueue knows racks, and operators the nodes that are theirs."""
    every = tuple(site.cluster.pools)
    by_setter: dict[str, list[str]] = {}
    for key in site.cluster.levels.values():
        if key != HOSTNAME:
            setter = next((text for prefix, text in setters(site).items() if key.startswith(prefix)), "")
            by_setter.setdefault(setter, []).append(key)
    for setter, keys in by_setter.items():
        named = names_text([f"`{key}`" for key in keys])
        yield Prerequisite(
            f"{of_pools(every)} have the label{'s' if len(keys) > 1 else ''} {named}",
            "levels of the topology; Kueue places no pod on a node without them",
            ("topology",),
            setter or "; ".join([marking(site, every[0], dict.fromkeys(keys, "VALUE")), *keep_labels(site, every)]),
            NodeLabels(every, tuple(keys)),
        )
    yield from chosen(site)


def setters(site: Site) -> Mapping[str, str]:
    """Return who sets labels of the topology, by their prefix; zones of a cloud's nodes are set by its controller."""
    return {**SETTERS, **(ZONES if site.cluster.distribution.provider else {})}


def chosen(site: Site) -> Iterator[Prerequisite]:
    """Yield the labels by which NVIDIA's software chooses nodes and their configuration."""
    cluster = site.cluster
    for name, pool in cluster.pools.items() if "gpu-operator" in cluster.operators else ():
        for field, key, cut in (("mig", MIG_CONFIG, pool.mig), ("sharing", PLUGIN_CONFIG, pool.sharing)):
            if cut is not None:
                yield Prerequisite(
                    f"{of_pools([name])} have the label `{key}={name}`",
                    "by it the GPU Operator chooses how GPUs are cut or shared; without it they stay whole",
                    ("pools", name, field),
                    marking(site, name, {key: name}),
                    NodeLabels((name,), (key,), name),
                )
    channels = tuple(name for name, pool in cluster.pools.items() if spans(cluster, pool))
    if channels and not bundlers(cluster, FEATURES) and FEATURES not in cluster.operators:
        yield Prerequisite(
            f"{of_pools(channels)} have the label `{GPU_PRESENT}=true`, or those of Node Feature Discovery",
            "the DRA driver runs only on nodes that are labelled so; pods get no NVLink channel without it",
            ("operators", "dra-driver-nvidia-gpu"),
            marking(site, channels[0], {GPU_PRESENT: "true"}),
            NodeLabels(channels, (GPU_PRESENT,), "true"),
        )


FEATURES = "node-feature-discovery"
GPU_PRESENT = "nvidia.com/gpu.present"
"""One of the labels that the DRA driver's pods ask of nodes (chart dra-driver-nvidia-gpu v0.4.0 values.yaml
kubeletPlugin.affinity)."""


def software(site: Site) -> Iterator[Prerequisite]:
    """Yield container runtime and kernel, where the file names them."""
    cluster = site.cluster
    bare = [name for name in cluster.pools if not cluster.distribution_of(name).brings_runtime]
    for runtime in sorted({cluster.system_of(name).runtime or "containerd" for name in bare}):
        there = tuple(name for name in bare if (cluster.system_of(name).runtime or "containerd") == runtime)
        yield Prerequisite(
            f"{of_pools(there)} run {runtime}",
            "files for nodes and the GPU toolkit configure this runtime",
            ("system",),
            f"install {runtime} in the node's image, or write `runtime` into the field",
            NodeRuntime(there, runtime),
        )
    for name in cluster.pools:
        kernel = cluster.system_of(name).kernel
        if kernel is not None:
            yield Prerequisite(
                f"{of_pools([name])} run Linux {kernel} or newer",
                "it decides how GPUs and NICs access each other's memory",
                ("pools", name, "system", "kernel") if cluster.pools[name].system.kernel else ("system", "kernel"),
                "upgrade the node's image, or correct the field",
                NodeKernel(name, kernel),
            )


KUBELET = "`kubectl get --raw /api/v1/nodes/NODE/proxy/configz`"
DISKS = "`findmnt /var/lib/kubelet`, on a node"
LOCKED = (
    "`kubectl run limit --rm -i --restart=Never --image=busybox "
    """--overrides='{"spec":{"nodeName":"NODE"}}' -- sh -c 'ulimit -l'` prints unlimited, or a number above 10^15"""
)
"""Shows the limit on locked memory of a container on a node, in KiB: 2^53 - 1 of the largest that a file can say."""


INTO_IMAGE = "put {} into the node's image; each file begins with its place"

APPLYING = {
    "openshift": "`oc apply -f {}`; the Machine Config Operator restarts the nodes one after the other",
    "talos": "`talosctl patch machineconfig --nodes NODE --patch @{}talos.yaml`{restarts}",
}
"""How the files reach nodes that have no image of one's own."""


def settings(site: Site) -> Iterator[Prerequisite]:
    """Yield the files that belong on nodes, but those that Karpenter gives to the nodes it starts."""
    cluster = site.cluster
    for path, files in node_files(cluster).items():
        name = path.rpartition("/")[2]
        if cluster.is_karpenters(name):
            continue
        needed = needs(cluster, name)
        parts = {
            KUBELET: "the kubelet places devices and CPUs by them" if needed.kubelet is not None else "",
            LOCKED: "pods on the fabric lock memory without limit" if needed.memlock else "",
            "`ls -ln /dev/kfd /dev/dri`, on a node": "every user opens the GPUs" if needed.open_devices else "",
            f"`grep HugePages_Total /proc/meminfo`, in any pod on a node, prints {needed.pages}": (
                "EFA's buffers lie in huge pages, which the kubelet counts when it starts" if needed.pages else ""
            ),
            modules_look(needed.load): "GPUs and NICs need these kernel modules" if needed.load else "",
            "`lsmod`, on a node, has no amdgpu at first": "AMD's operator loads its own driver" if needed.block else "",
            DISKS: "scratch of pods is on the local disks" if needed.stripe else "",
        }
        used = {look: why for look, why in parts.items() if why}
        yield Prerequisite(
            f"{of_pools([name])} have the files of `{path}/`: {names_text([file.name for file in files])}",
            "; ".join(used.values()),
            ("pools", name),
            APPLYING.get(cluster.system_of(name).distribution or "", INTO_IMAGE).format(
                f"generated/{site.name}/{path}/", restarts=talos_forms.restarts(needed)
            ),
            look="; ".join(used),
        )


def modules_look(modules: Sequence[str]) -> str:
    """Return the command by which a person sees kernel modules: from a pod, since not every node has a shell."""
    return f"`cat /proc/modules`, in any pod on a node, has {names_text(list(modules))}"


def processes(site: Site) -> Iterator[Prerequisite]:
    """Yield the number of processes that pods with GPUs need, where the kubelet allows fewer and is not ours to set."""
    cluster = site.cluster
    for name, pool in cluster.pools.items():
        if pool.kubelet is None and pool.node.gpus and few_processes(cluster, name):
            facts = cluster.distribution_of(name)
            yield Prerequisite(
                f"kubelets of pool {name} allow a pod {PROCESSES} processes and threads",
                f"{facts.title} allows {facts.pod_pids}; ranks with many loaders then fail to start threads",
                ("pools", name, "kubelet"),
                f"set `podPidsLimit: {PROCESSES}` where the kubelet is configured, or set `kubelet` of the pool",
                look=KUBELET,
            )


def memory(site: Site) -> Iterator[Prerequisite]:
    """Yield the component that lifts the limit on locked memory, where no file for nodes does."""
    fabric = site.cluster.fabric
    if fabric is None or fabric.memlock == "node" or not fabric_type(site.cluster).locks_memory:
        return
    provided = fabric.memlock == "provided"
    yield Prerequisite(
        "containers may lock memory without limit" if provided else "containerd runs the NRI plugin ulimit-adjuster",
        "RDMA locks its buffers; NCCL fails when it registers memory beyond the limit",
        ("fabric", "memlock"),
        "set `LimitMEMLOCK=infinity` for the unit of the container runtime"
        if provided
        else "enable NRI in containerd, and install plugins/ulimit-adjuster of github.com/containerd/nri",
        look=LOCKED if provided else "`ls /opt/nri/plugins`, on a node",
    )
