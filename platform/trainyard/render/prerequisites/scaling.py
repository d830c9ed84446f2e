"""Prerequisites of pools whose nodes come and go: who may start them, where, and where the rest of the cluster runs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import count_of
from trainyard.base.labels import POOL
from trainyard.render.prerequisites.base import Prerequisite, Site, labels_text, names_text, of_pools
from trainyard.render.prerequisites.questions import Definitions, PoolNodes
from trainyard.render.sizing.node import huge_pages
from trainyard.specs import Cluster, Pool
from trainyard.specs.models.scaling import NodeClass
from trainyard.upstream.pods.taints import Taint

REQUESTS = "provisioningrequests.autoscaling.x-k8s.io"


def pools(site: Site) -> Iterator[Prerequisite]:
    """Yield the prerequisites of Karpenter and of node groups, and of nodes that are always there for controllers."""
    cluster = site.cluster
    scaled = {name: pool for name, pool in cluster.pools.items() if pool.scales}
    for name, pool in scaled.items():
        node_class = pool.scaling.node_class if pool.scaling else None
        if cluster.autoscaler_of(name) != "karpenter":
            yield node_group(site, name)
        elif node_class is not None:
            yield from karpenter(site, name, node_class)
    if all(pool.lasting_nodes == 0 or is_closed(pool) for pool in cluster.pools.values()):
        yield Prerequisite(
            f"nodes without taints, outside of {'pools' if len(cluster.pools) > 1 else 'pool'} "
            f"{names_text([*cluster.pools])}, are always there",
            "controllers run there, those too that start nodes; a pool without nodes starts none by itself"
            if scaled
            else "controllers and the cluster's DNS run there; they tolerate no taint of the pools, and stay pending",
            ("pools",),
            "make a small group of nodes without GPUs and taints",
            look=f"`kubectl get nodes -l '{','.join(outside(cluster))}' "
            "-o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints`",
        )


def is_closed(pool: Pool) -> bool:
    """Whether a taint keeps pods without its toleration off the nodes of a pool, as controllers are."""
    return any(taint.effect != "PreferNoSchedule" for taint in pool.taints)


def outside(cluster: Cluster) -> Iterator[str]:
    """Yield the conditions on labels, as kubectl reads them, of nodes that are of no pool."""
    values: dict[str, list[str]] = {}
    for selector in cluster.selectors.values():
        key, value = next(iter(selector.items()))
        values.setdefault(key, []).append(value)
    for key, listed in values.items():
        yield f"!{key}" if key == POOL else f"{key} notin ({','.join(listed)})"


def node_group(site: Site, name: str) -> Prerequisite:
    """Return the group of nodes of which cluster-autoscaler, or the provider, starts some."""
    pool = site.cluster.pools[name]
    taints = tuple(Taint(taint.key, taint.value, taint.effect) for taint in pool.taints)
    marks = [labels_text(site, name), *(f"the taint `{taint}`" for taint in taints)]
    return Prerequisite(
        f"the autoscaler starts {pool.lasting_nodes} to {count_of(pool.nodes, 'node')} with {names_text(marks)}",
        "flavor and pods of the pool select this label and tolerate only these taints; the quota counts all nodes",
        ("pools", name, "nodes"),
        "make a node group with these limits, and give its template label and taints, or none starts from zero",
        PoolNodes(name, pool.lasting_nodes, taints),
    )


def karpenter(site: Site, name: str, node_class: NodeClass) -> Iterator[Prerequisite]:
    """Yield the quota, role and subnets of the account by which Karpenter starts nodes of a pool."""
    pool = site.cluster.pools[name]
    at = ("pools", name, "scaling", "nodeClass")
    yield Prerequisite(
        f"the account may run {count_of(pool.nodes, 'node')} of pool {name} at once",
        "Karpenter starts no node beyond the account's quota, and jobs wait for it",
        ("pools", name, "nodes"),
        "ask AWS to raise the quota of vCPUs of this kind of instance (Service Quotas, Amazon EC2)",
        look="`aws service-quotas list-service-quotas --service-code ec2`",
    )
    if pool.spot:
        yield Prerequisite(
            "Karpenter reads the account's interruption queue",
            f"without it pods on {of_pools([name])} get no notice before their node is taken away, and save nothing",
            ("pools", name, "spot"),
            "make the queue with its EventBridge rules, and set `settings.interruptionQueue` of Karpenter's chart",
            look="`kubectl get deployment -A -o yaml | grep INTERRUPTION_QUEUE`",
        )
    if huge_pages(pool.node):
        yield Prerequisite(
            "Karpenter runs with the feature gate NodeOverlay",
            f"by the overlay it knows huge pages of {of_pools([name])}; without, it starts no node for pods",
            ("pools", name, "shape"),
            "set `settings.featureGates.nodeOverlay: true` of Karpenter's chart",
            look="`kubectl get deployment -A -o yaml | grep -A1 FEATURE_GATES`",
        )
    yield Prerequisite(
        f"IAM role `{node_class.role}` is there, and its nodes may join the cluster",
        "Karpenter starts nodes with it",
        (*at, "role"),
        "`aws eks create-access-entry --cluster-name CLUSTER --type EC2_LINUX --principal-arn ARN` of the role",
        look=f"`aws iam get-role --role-name {node_class.role}`",
    )
    several = len(node_class.subnets) > 1
    what = f"{'subnets' if several else 'subnet'} {names_text([*node_class.subnets])} {'have' if several else 'has'}"
    yield Prerequisite(
        f"{what} addresses for {of_pools([name])}",
        "nodes start there; EFA reaches only nodes in the same zone",
        (*at, "subnets"),
        "use subnets of one zone, with room for all nodes and their pods",
        look=f"`aws ec2 describe-subnets --subnet-ids {' '.join(node_class.subnets)}`",
    )


def requests(site: Site) -> Iterator[Prerequisite]:
    """Yield the definition of the requests by which Kueue asks for nodes."""
    names = [name for name, pool in site.cluster.pools.items() if pool.provisioning is not None]
    if names:
        yield Prerequisite(
            f"ProvisioningRequests (`{REQUESTS}`) are served before Kueue starts",
            f"Kueue asks by them for {of_pools(names)}; without their definition its controller of them does not start",
            ("pools", names[0], "scaling", "provisioning"),
            "run cluster-autoscaler with --enable-provisioning-requests, or restart Kueue once they are there",
            Definitions({REQUESTS: ()}),
        )
