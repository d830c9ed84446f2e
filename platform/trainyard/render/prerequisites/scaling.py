"""Prerequisites of pools whose nodes come and go: who may start them, where, and where the rest of the cluster runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.findings import count_of
from trainyard.base.labels import POOL
from trainyard.render.clusters.karpenter import INSTANCE_TYPE
from trainyard.render.prerequisites.base import Prerequisite, Site, labels_text, names_text, of_pools
from trainyard.render.prerequisites.questions import Definitions, PoolNodes
from trainyard.render.sizing.node import huge_pages, taints_of
from trainyard.specs import Cluster, Pool
from trainyard.specs.models.scaling import NodeClass

REQUESTS = "provisioningrequests.autoscaling.x-k8s.io"


def pools(site: Site) -> Iterator[Prerequisite]:
    """Yield the prerequisites of Karpenter and of node groups, and of nodes that are always there for controllers."""
    cluster = site.cluster
    scaled = {name: pool for name, pool in cluster.pools.items() if pool.scales}
    for name, pool in scaled.items():
        node_class = pool.scaling.node_class if pool.scaling else None
        if not cluster.is_karpenters(name):
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
    taints = taints_of(pool)
    marks = [labels_text(site, name), *(f"the taint `{taint}`" for taint in taints)]
    return Prerequisite(
        f"the autoscaler starts {pool.lasting_nodes} to {count_of(pool.nodes, 'node')} with {names_text(marks)}",
        "flavor and pods of the pool select this label and tolerate only these taints; the quota counts all nodes",
        ("pools", name, "nodes"),
        "make a node group with these limits, and give its template label and taints, or none starts from zero",
        PoolNodes(name, pool.lasting_nodes, taints),
    )


def karpenter(site: Site, name: str, node_class: NodeClass) -> Iterator[Prerequisite]:
    """Yield the quota, roles and settings of account and Karpenter by which nodes of a pool start."""
    pool = site.cluster.pools[name]
    yield quota(name, pool)
    if pool.spot:
        yield Prerequisite(
            "the account has EC2's service-linked role for spot instances",
            "EC2 refuses the first spot node otherwise, unless Karpenter may create the role",
            ("pools", name, "spot"),
            "`aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`, once for the account",
            look="`aws iam get-role --role-name AWSServiceRoleForEC2Spot`",
        )
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
    yield from account(name, node_class)


CLASS = re.compile(r"(p[0-9])|[a-z]+")
"""Class of an instance type by which EC2 limits it: its letters, and the generation where it sells spot P instances.

Amazon EC2 user guide, On-Demand Instance quotas and Spot Instance quotas.
"""


def quota(name: str, pool: Pool) -> Prerequisite:
    """Return the quota of the account, which EC2 counts in vCPUs, apart for spot and on-demand instances."""
    found = CLASS.match(pool.node.labels.get(INSTANCE_TYPE, ""))
    way = "" if pool.reservation else " spot" if pool.spot else " on-demand"
    letters = (found[0] if pool.spot or not found[1] else "p") if found else ""
    of_kind = f" of class {letters.upper()}" if letters else ""
    named = "Spot" if pool.spot else "On-Demand"
    query = "" if pool.reservation else f""" --query "Quotas[?contains(QuotaName, '{named}')].[QuotaName, Value]\""""
    return Prerequisite(
        f"the account may run {count_of(pool.nodes, 'node')} of pool {name} at once",
        "Karpenter starts no node beyond the account's quota, and jobs wait for it",
        ("pools", name, "nodes"),
        f"ask AWS for a quota of {pool.nodes * pool.node.cpus} vCPUs for{way} instances{of_kind} "
        "(Service Quotas, Amazon EC2)",
        look=f"`aws service-quotas list-service-quotas --service-code ec2{query}`",
    )


def account(name: str, node_class: NodeClass) -> Iterator[Prerequisite]:
    """Yield role, groups and subnets of the nodes.

    Policies as in the CloudFormation of karpenter-provider-aws v1.14.1 (getting-started-with-karpenter); nodes have the
    groups of the class alone (pkg/providers/launchtemplate/launchtemplate.go).
    """
    at = ("pools", name, "scaling", "nodeClass")
    role = node_class.role
    yield Prerequisite(
        f"IAM role `{role}` has the policies of a node, its nodes may join the cluster, and Karpenter may pass it",
        "Karpenter starts nodes with it; without the policies they pull no image and give pods no address",
        (*at, "role"),
        "attach AmazonEKSWorkerNodePolicy, AmazonEC2ContainerRegistryPullOnly and AmazonEKS_CNI_Policy; "
        "`aws eks create-access-entry --cluster-name CLUSTER --type EC2_LINUX --principal-arn ARN` of the role; "
        "allow `iam:PassRole` for it in Karpenter's own role",
        look=f"`aws iam list-attached-role-policies --role-name {role}`",
    )
    groups = node_class.security_groups
    yield Prerequisite(
        f"one of {names_text([*groups])} is the cluster's own security group, or they let each other through"
        if len(groups) > 1
        else f"{groups[0]} is the cluster's own security group, or both let each other through",
        "nodes have no other group; without a way to the API server and to DNS they do not join the cluster",
        (*at, "securityGroups"),
        "add the cluster's group to the field, or allow all traffic between both groups",
        look="`aws eks describe-cluster --name CLUSTER --query cluster.resourcesVpcConfig.clusterSecurityGroupId`",
    )
    if node_class.placement_group is not None:
        group = node_class.placement_group
        yield Prerequisite(
            f"placement group `{group}` is there, in the zone of the pool's subnets, and Karpenter may use it",
            f"{of_pools([name])} start in it, or not at all",
            (*at, "placementGroup"),
            f"`aws ec2 create-placement-group --group-name {group} --strategy cluster`, and allow "
            "`ec2:DescribePlacementGroups` in Karpenter's own role",
            look=f"`aws ec2 describe-placement-groups --group-names {group}`",
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
