"""Pools that scale: somebody must be able to start their nodes, and Kueue must wait for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.quantities import parse_duration
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.clusters.karpenter import INSTANCE_TYPE, NAME
from trainyard.render.operators.kueue import Kueue, configuration
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.specs import Cluster, Pool
from trainyard.specs.models.scaling import Scaling
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source
from trainyard.upstream.pods.resources import HUGE_PAGES

PROVIDER = "aws/karpenter-provider-aws v1.14.1"
GATE = "settings.featureGates.nodeOverlay"
"""Value of Karpenter's chart by which it reads overlays (charts/karpenter/values.yaml; off by default)."""

GKE = "queued-provisioning.gke.io"
"""Class of requests that GKE answers by flex-start."""

IMAGES = {"eks": "al2023", "eks-bottlerocket": "bottlerocket"}
"""Images whose user data is of the form in which files for nodes of a distribution are written."""

MINUTE = 60 * 10**9
"""Nanoseconds."""

STARTS = Rule(
    id="pairing/autoscaler",
    title="A pool that scales has a program that can start its nodes.",
    why="jobs would get quota and wait for nodes that nobody starts",
    fix="choose scaling.by for the distribution, and give the autoscaler what it needs",
    source=f"{PROVIDER} pkg/apis/v1/ec2nodeclass.go; kubernetes/autoscaler cluster-autoscaler ProvisioningRequest",
    layer="pairing",
)
OVERLAY = Rule(
    id="pairing/node-overlay",
    title="Karpenter counts the huge pages that pods on EFA ask for.",
    why="its instance types have none, so it starts no node for such a pod (aws/karpenter-provider-aws#3315)",
    fix="have Karpenter's gate NodeOverlay turned on by whoever installs Karpenter, and waive this",
    source=f"{PROVIDER} pkg/providers/instancetype/types.go computeCapacity, charts/karpenter/values.yaml",
    layer="pairing",
    severity=Severity.WARNING,
)
ZONES = Rule(
    id="pairing/one-zone",
    title="Karpenter starts nodes on EFA in one subnet.",
    why="it chooses a subnet for each node, and EFA connects only nodes of one zone",
    fix="name one subnet, make a pool for each zone, or waive this where all subnets are of one zone",
    source=f"{PROVIDER} pkg/providers/subnet/subnet.go; Amazon EC2 user guide, EFA limitations",
    layer="pairing",
    severity=Severity.WARNING,
)
MIXED = Rule(
    id="queueing/mixed-topology",
    title="Kueue places the pods of a queue on all its pools by topology, or on none.",
    why="Kueue closes pools with a topology to jobs that ask for none, as soon as the queue has a pool without",
    fix="use one queue for pools that scale, and another for the rest",
    source="kueue v0.19.2 pkg/scheduler/flavorassigner/tas_flavorassigner.go checkPodSetAndFlavorMatchForTAS",
    layer="queueing",
)
TIMEOUT = Rule(
    id="queueing/ready-timeout",
    title="Kueue waits for ready pods longer than nodes need to start.",
    why="Kueue would evict each job before its nodes are there, again and again",
    fix="raise the timeout, or correct startMinutes of the pool",
    source="kueue v0.19.2 apis/config/v1beta2/configuration_types.go WaitForPodsReady",
    layer="queueing",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose nodes never come, or come too late for Kueue."""
    pools = {name: pool for name, pool in cluster.pools.items() if pool.scales}
    for name, pool in pools.items():
        at: Path = ("pools", name)
        for path, message in problems(cluster, name, pool):
            yield STARTS.at(source, (*at, *path), message)
        yield from check_zones(cluster, name, pool, source)
        yield from check_pages(cluster, name, pool, source)
    if pools:
        yield from check_queues(cluster, source)
        yield from check_timeouts(cluster, pools, source)


def problems(cluster: Cluster, name: str, pool: Pool) -> Iterator[tuple[Path, str]]:
    """Yield problems that keep nodes of a pool from starting, each with its field."""
    scaling, by = pool.scaling or Scaling(), cluster.autoscaler_of(name)
    field: Path = ("scaling",) if pool.scaling else ("nodes",)
    distribution = cluster.system_of(name).distribution or ""
    if scaling.provisioning == GKE and not distribution.startswith("gke"):
        yield ("scaling", "provisioning"), f"provisioning is {GKE!r}, which exists on GKE only; use another class"
    if by != NAME:
        if scaling.node_class is not None:
            yield ("scaling", "nodeClass"), f"nodeClass is for Karpenter, but {by} scales the pool; remove it"
        return
    if not distribution.startswith("eks"):
        message = f"Karpenter's node classes are written for EKS only, but distribution is {distribution!r}"
        yield field, f"{message}; use by: cluster-autoscaler"
        return
    if NAME not in cluster.operators:
        yield (
            field,
            "Karpenter scales the pool, but is no operator here; add karpenter: {version: 1.14.1, managed: false}",
        )
    if scaling.node_class is None:
        yield field, "Karpenter needs image, role, subnets and securityGroups of the nodes; add scaling.nodeClass"
    else:
        yield from check_image(distribution, scaling.node_class.image)
    if pool.lasting_nodes:
        yield (
            ("nodes",),
            f"min is {pool.lasting_nodes}, but Karpenter keeps no idle nodes; use min: 0, or a second pool",
        )
    if scaling.provisioning is not None:
        yield ("scaling", "provisioning"), "Karpenter answers no ProvisioningRequests; remove provisioning"
    if is_known_shape(pool.shape) and INSTANCE_TYPE not in pool.node.labels:
        yield ("shape",), f"the shape has no label {INSTANCE_TYPE}, so Karpenter could start any node; add the label"


def check_image(distribution: str, image: str) -> Iterator[tuple[Path, str]]:
    """Yield an image whose nodes are not of the pool's distribution, and read user data of another form."""
    family = image.partition("@")[0]
    fits = IMAGES.get(distribution)
    if fits is not None and fits != family:
        other = next(name for name, its in IMAGES.items() if its == family)
        message = f"image is {image}, but distribution is {distribution!r}; use {fits}@…, or distribution: {other}"
        yield ("scaling", "nodeClass", "image"), message


def check_zones(cluster: Cluster, name: str, pool: Pool, source: Source) -> Iterator[Finding]:
    """Yield subnets over which Karpenter may spread a run on EFA; a reservation keeps its nodes in one zone."""
    kind, scaling = fabric_type(cluster), pool.scaling
    on_efa = kind.name == "efa" and is_known_shape(pool.shape) and kind.reaches(cluster, name)
    if not on_efa or scaling is None or scaling.node_class is None or not cluster.is_karpenters(name):
        return
    subnets = scaling.node_class.subnets
    if len(set(subnets)) > 1 and pool.nodes > 1 and pool.reservation is None:
        message = f"nodes of one run may start in {subnets[0]} and {subnets[1]}, and EFA does not cross zones; use one"
        yield ZONES.at(source, ("pools", name, "scaling", "nodeClass", "subnets", 1), message)


def check_pages(cluster: Cluster, name: str, pool: Pool, source: Source) -> Iterator[Finding]:
    """Yield a pool whose pods ask for huge pages that Karpenter does not count."""
    if NAME not in cluster.operators or not cluster.is_karpenters(name) or not is_known_shape(pool.shape):
        return
    asked = any(resource.startswith(HUGE_PAGES) for resource in fabric_type(cluster).per_node(cluster, name))
    if asked:
        message = f"pods of pool {name!r} ask for huge pages; have {GATE} of Karpenter's chart set, then waive this"
        yield OVERLAY.at(source, ("operators", NAME), message)


def check_queues(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield queues that have pools with a topology beside pools without."""
    for name, queue in cluster.queues_of("kueue").items():
        placed = {pool: bool(cluster.levels_of(pool)) for pool in queue.nominal_quota if pool in cluster.pools}
        without = [pool for pool, by_topology in placed.items() if not by_topology]
        if without and any(placed.values()):
            message = f"queue {name!r} has pool {without[0]!r}, which scales and so has no topology, beside others"
            yield MIXED.at(source, ("queues", name, "nominalQuota", without[0]), f"{message}; use a queue of its own")


def check_timeouts(cluster: Cluster, pools: Mapping[str, Pool], source: Source) -> Iterator[Finding]:
    """Yield times after which Kueue takes quota back though nodes are still starting."""
    waits = configuration(cluster).get("waitForPodsReady")
    waiting = {name: pool.start_minutes for name, pool in pools.items() if pool.provisioning is None}
    if not isinstance(waits, Mapping) or waits.get("enable") is False or not waiting:
        return
    name, minutes = max(waiting.items(), key=lambda item: item[1])
    for field in ("timeout", "recoveryTimeout"):
        try:
            time = parse_duration(str(waits[field])) if waits.get(field) is not None else 0
        except ValueError:
            continue
        if 0 < time <= minutes * MINUTE:
            own: Path = ("recoveryMinutes",) if cluster.recovery_minutes is not None else ("operators", Kueue.name)
            message = f"Kueue's {field} is {waits[field]}, but nodes of pool {name!r} need {minutes} minutes to start"
            yield TIMEOUT.at(source, own if field == "recoveryTimeout" else ("operators", Kueue.name), message)
