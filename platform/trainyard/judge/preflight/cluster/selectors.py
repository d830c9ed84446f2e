"""What selects the nodes of pools: labels that only these nodes have, by which Kueue tells the pools apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.labels import HOSTNAME, POOL
from trainyard.base.pools import excludes
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.clusters.karpenter import CAPACITY_TYPE, NODE_POOL, capacity_type
from trainyard.render.sizing.gpus import configured_labels
from trainyard.specs import Cluster, Pool
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

SELECTOR = Rule(
    id="spec/pool-selector",
    title="The selector of a pool names labels that all its nodes have.",
    why="flavors, pods and operators select nodes by these labels, and would find none",
    fix="use labels that all nodes of the pool share, with the values that they have",
    source="docs/pools.md",
)
OVERLAP = Rule(
    id="spec/pool-overlap",
    title="Every node belongs to one pool.",
    why="two flavors would count the same nodes, and daemons of both pools would run there",
    fix="select each pool by a label whose value only its own nodes have",
    source="docs/pools.md; kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go",
)
ALIKE = Rule(
    id="queueing/pool-labels",
    title="Pools of one queue have different values of one label, or a topology.",
    why="Kueue compares a pod only with labels of the flavor, so it admits jobs to nodes that they do not select",
    fix="select the pools of a queue by the same label",
    source="kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go flavorSelector",
    layer="queueing",
)
RESTRICTED = Rule(
    id="spec/restricted-label",
    title="Karpenter gives nodes only labels that it and the kubelet accept.",
    why="Karpenter starts no node from such a NodePool, or the kubelet of the node does not start",
    fix="use a label outside of the groups of Kubernetes and Karpenter",
    source=(
        "aws/karpenter-provider-aws v1.14.1 pkg/apis/crds/karpenter.sh_nodepools.yaml; "
        "kubernetes v1.35 staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go"
    ),
)

GROUPS = ("kubernetes.io", "k8s.io")
"""Groups of which a kubelet accepts few labels."""

OPEN = ("node.kubernetes.io", "kubelet.kubernetes.io", "node-restriction.kubernetes.io", "kops.k8s.io")
"""Groups below them of which it accepts all, or that Karpenter itself writes on nodes."""

ACCEPTED = frozenset(
    {
        *("kubernetes.io/arch", "kubernetes.io/os"),
        *("topology.kubernetes.io/region", "topology.kubernetes.io/zone"),
    }
)
"""Labels of Kubernetes' own that it accepts."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield selectors that select no node of their pool, or nodes of others too."""
    for name, pool in cluster.pools.items():
        for label, message in wrong_labels(cluster, name, pool):
            yield SELECTOR.at(source, ("pools", name, "selector", label), message, key=True)
        if cluster.is_karpenters(name):
            for path, message in restricted(name, pool):
                yield RESTRICTED.at(source, ("pools", name, *path), message, key=True)
    yield from overlaps(cluster, source)
    yield from alike(cluster, source)


def wrong_labels(cluster: Cluster, name: str, pool: Pool) -> Iterator[tuple[str, str]]:
    """Yield the labels of a pool's selector that its nodes do not share, or that have another value there."""
    known = known_labels(name, pool)
    for label, value in (pool.selector or {}).items():
        if label == POOL:
            yield label, f"selector has {label!r}, which pools without a selector use; remove it"
        elif label in {HOSTNAME, *cluster.levels.values()}:
            yield label, f"label {label!r} differs between nodes of a pool; select nodes by another label"
        elif known.get(label, value) != value:
            whose = "labels of the pool say" if label in pool.labels else "nodes of its shape have"
            yield label, f"selector of pool {name!r} has {label}: {value}, but {whose} {known[label]}; use one value"


def known_labels(name: str, pool: Pool) -> dict[str, str]:
    """Return the labels of a pool's nodes that are known beside those that select them."""
    of_shape = {**pool.node.labels, **configured_labels(name, pool)} if is_known_shape(pool.shape) else {}
    return {**of_shape, **pool.labels}


def restricted(name: str, pool: Pool) -> Iterator[tuple[Path, str]]:
    """Yield the labels of a pool that Karpenter may not give its nodes."""
    itself = {NODE_POOL: name, CAPACITY_TYPE: capacity_type(pool)}
    for field, labels in (("selector", pool.selector or {}), ("labels", pool.labels)):
        for label, value in labels.items():
            if itself.get(label, value) != value:
                yield (field, label), f"Karpenter sets {label}: {itself[label]} here, not {value}; use that value"
            elif is_restricted(label):
                yield (field, label), f"Karpenter cannot give nodes label {label!r}, as kubelets refuse it; use another"


def is_restricted(label: str) -> bool:
    """Say whether a kubelet refuses to give its own node a label.

    >>> [is_restricted(label) for label in ("kubernetes.io/role", "node.kubernetes.io/pool", "example.com/pool")]
    [True, False, False]
    """
    group = label.rpartition("/")[0]
    return label not in ACCEPTED and is_below(group, GROUPS) and not is_below(group, OPEN)


def is_below(group: str, groups: tuple[str, ...]) -> bool:
    """Say whether a group is one of some groups, or below it."""
    return any(group == one or group.endswith(f".{one}") for one in groups)


def overlaps(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose selector the nodes of another pool meet too."""
    selectors, names = cluster.selectors, [*cluster.pools]
    for name, other in permutations(names, 2):
        pool, known = cluster.pools[other], known_labels(other, cluster.pools[other])
        if not selectors[name].items() <= {**known, **selectors[other]}.items():
            continue
        if selectors[name] == selectors[other]:
            if names.index(name) < names.index(other):
                message = f"pools {name!r} and {other!r} have one selector; give each a label that only its nodes have"
                yield OVERLAP.at(source, ("pools", other, "selector"), message, key=True)
        else:
            path: Path = ("pools", name, "selector") if cluster.pools[name].selector else ("pools", other, "labels")
            where = "selector" if cluster.pools[name].selector or pool.selector is None else "label"
            message = (
                f"{where} of pool {name!r} also selects nodes of pool {other!r}; add a label that only its own have"
            )
            yield OVERLAP.at(source, path, message, key=True)


def alike(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools of one queue that Kueue cannot tell apart, as it does not look at their nodes."""
    for name, queue in cluster.queues_of("kueue").items():
        pools = [pool for pool in queue.nominal_quota if pool in cluster.pools]
        for one, other in combinations(pools, 2):
            seen = cluster.levels_of(one) and cluster.levels_of(other)
            if not seen and not excludes(cluster.selector_of(one), cluster.selector_of(other)):
                message = f"selectors of pools {one!r} and {other!r} share no label; select both by one label"
                yield ALIKE.at(source, ("queues", name, "nominalQuota", other), message, key=True)
