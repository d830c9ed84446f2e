"""What the syncer of a virtual cluster may make on the host, as admission policies that no team can change.

The team is administrator inside, and so writes every field of its pods. Pod Security takes host paths, host networks
and privileges from them; here is what it leaves: nodes, tolerations, priorities, devices and networks by annotation or
variable, and volumes that a driver mounts for anybody. Facts: loft-sh/vcluster v0.36.1
pkg/controllers/resources/pods/translate/translator.go, persistentvolumeclaims/translate.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import GIVE_DEVICES, GIVE_NETWORKS, NAMESPACE, OURS, PROTECTED
from trainyard.render.parts.objects import Resource
from trainyard.render.parts.virtual_clusters import CLUSTERS, namespace
from trainyard.render.sizing.gpus import offers
from trainyard.render.tenancy.policies import SYSTEM
from trainyard.render.tenancy.variables import HIDES
from trainyard.specs import Cluster
from trainyard.specs.models.virtual_clusters import VirtualCluster

POLICY = "admissionregistration.k8s.io/v1"
CREATED = "request.operation != 'CREATE' || "
BY_SYSTEM = f"request.userInfo.username.matches('{SYSTEM}')"
"""Whether a controller of Kubernetes asks, such as that of StatefulSets."""

BINDER = ["system:kube-controller-manager", "system:serviceaccount:kube-system:persistent-volume-binder"]
"""Who binds claims to volumes (kubernetes v1.35 cmd/kube-controller-manager/names)."""

SOFT = ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
"""Taints of nodes that every pod, or every pod of a DaemonSet, tolerates (kubernetes v1.35 pkg/controller/daemon)."""

FOREIGN = ("kueue.x-k8s.io", OURS, "cdi.k8s.io", *GIVE_DEVICES, *GIVE_NETWORKS)
"""Groups of labels and annotations by which programs of the host would count a pod otherwise, or give it devices."""

PLAIN = ("cpu", "memory", "ephemeral-storage")


def resources(cluster: Cluster, name: str, one: VirtualCluster) -> Iterator[Resource]:
    """Yield both policies with their bindings to the namespace: of its pods, and of Services and claims."""
    pods = [rule([""], ["pods", "pods/ephemeralcontainers", "pods/resize"])]
    yield from policy(name, "pods", pods, list(of_pods(cluster, name, one)), [IT, CONTAINERS])
    objects = [rule([""], ["services", "persistentvolumeclaims"])]
    yield from policy(name, "objects", objects, list(of_objects(one)), [IT])


def rule(groups: list[str], kinds: list[str]) -> dict[str, Any]:
    """Return which requests a policy sees."""
    return {"apiGroups": groups, "apiVersions": ["v1"], "resources": kinds, "operations": ["CREATE", "UPDATE"]}


def policy(name: str, part: str, rules: list[Any], validations: list[Any], variables: list[Any]) -> Iterator[Resource]:
    """Yield a policy and its binding."""
    title = f"virtual-cluster-{name}-{part}"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules},
        "variables": variables,
        "validations": validations,
    }
    space = {"matchExpressions": [{"key": NAMESPACE, "operator": "In", "values": [namespace(name)]}]}
    bound = {"policyName": title, "validationActions": ["Deny"], "matchResources": {"namespaceSelector": space}}
    notes = {**PROTECTED, f"{OURS}/source": "docs/virtual-clusters.md"}
    at = (CLUSTERS, name)
    yield Resource(POLICY, "ValidatingAdmissionPolicy", title, at, annotations=notes, fields={"spec": spec})
    yield Resource(POLICY, "ValidatingAdmissionPolicyBinding", title, at, annotations=notes, fields={"spec": bound})


IT = {"name": "it", "expression": "dyn(object)"}
CONTAINERS = {
    "name": "containers",
    "expression": "variables.it.spec.containers + variables.it.spec.?initContainers.orValue([]) "
    "+ variables.it.spec.?ephemeralContainers.orValue([])",
}


def of_pods(cluster: Cluster, name: str, one: VirtualCluster) -> Iterator[dict[str, str]]:
    """Yield the validations of a pod; the message names the field, as the team sees it in an event."""
    pool = cluster.pools[one.pool]
    selector = json.dumps(cluster.selectors[one.pool])
    yield validation(
        f"{selector}.all(k, k in object.spec.?nodeSelector.orValue({{}}) "
        f"&& object.spec.nodeSelector[k] == {selector}[k])",
        f"nodeSelector must select pool {one.pool}",
    )
    yield validation(f"{CREATED}object.spec.?nodeName.orValue('') == ''", "nodeName must be empty; use nodeSelector")
    keys = json.dumps(sorted({taint.key for taint in pool.taints} | {f"node.kubernetes.io/{key}" for key in SOFT}))
    yield validation(
        f"object.spec.?tolerations.orValue([]).all(t, t.?key.orValue('') in {keys})",
        f"tolerations may name taints of pool {one.pool} only",
    )
    yield validation("object.spec.?priority.orValue(0) <= 0", "priorityClassName would evict others; remove it")
    yield validation(
        "object.spec.?schedulerName.orValue('default-scheduler') == 'default-scheduler'",
        "schedulerName must be default-scheduler",
    )
    grace = cluster.longest_grace_seconds
    yield validation(
        f"object.spec.?terminationGracePeriodSeconds.orValue(30) <= {grace}",
        f"terminationGracePeriodSeconds must be at most {grace}",
    )
    classes = json.dumps(["", *cluster.runtime_classes])
    yield validation(
        f"object.spec.?runtimeClassName.orValue('') in {classes}", "runtimeClassName is none of runtimeClasses"
    )
    groups = "|".join(group.replace(".", "\\\\.") for group in FOREIGN)
    foreign = f"k.matches('(^|[.])({groups})([./]|$)')"
    yield validation(
        "[object.metadata.?labels.orValue({}), object.metadata.?annotations.orValue({})]"
        f".all(m, m.all(k, !{foreign}))",
        "labels and annotations of Kueue, Trainyard, networks and devices are the host's; remove them",
    )
    yield validation(
        "!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.csi))",
        "csi volumes of a pod are mounted without a claim; use a PersistentVolumeClaim",
    )
    yield validation(
        "object.spec.?resourceClaims.orValue([]).size() == 0", "resourceClaims give devices past the quota; remove them"
    )
    granted = gpu_resource(cluster, one)
    names = json.dumps([*PLAIN, *([granted] if granted else [])])
    kinds = ("requests", "limits")
    amounts = " && ".join(f"c.?resources.?{kind}.orValue({{}}).all(r, r in {names})" for kind in kinds)
    whole = " && ".join(f"object.spec.?resources.?{kind}.orValue({{}}).all(r, r in {names})" for kind in kinds)
    yield validation(
        f"variables.containers.all(c, {amounts}) && {whole}", f"resources may be {', '.join(json.loads(names))}"
    )
    yield validation(
        f"variables.containers.all(c, !has(c.env) || c.env.all(e, {HIDES.cel('e')}))",
        "variables of containers may not show devices of the node; request GPUs",
    )
    yield validation(
        f"{CREATED}{BY_SYSTEM} || (!('release' in object.metadata.?labels.orValue({{}})) "
        f"&& object.spec.?serviceAccountName.orValue('') != 'vc-{name}')",
        "the control plane's label and account are its own",
    )


def of_objects(one: VirtualCluster) -> Iterator[dict[str, str]]:
    """Yield the validations of Services and claims: inside alone, of one class, and of volumes made for them."""
    service = "object.kind != 'Service' || "
    claim = "object.kind != 'PersistentVolumeClaim' || "
    yield validation(
        f"{service}(object.spec.?type.orValue('ClusterIP') in ['ClusterIP', 'ExternalName'] "
        "&& object.spec.?externalIPs.orValue([]).size() == 0)",
        "Services must be of type ClusterIP, without externalIPs",
    )
    yield validation(
        f"{claim}object.spec.?storageClassName.orValue('') == '{one.storage}'",
        f"storageClassName must be {one.storage}",
    )
    yield validation(
        f"{claim}request.userInfo.username in {json.dumps(BINDER)} || object.spec.?volumeName.orValue('') == "
        "(request.operation == 'CREATE' ? '' : dyn(oldObject).spec.?volumeName.orValue(''))",
        "volumeName would take a volume of others; leave it out",
    )
    yield validation(
        f"{claim}object.spec.?dataSourceRef.?namespace.orValue('') == ''", "dataSourceRef must be of the own namespace"
    )


def validation(expression: str, message: str) -> dict[str, str]:
    """Return a validation; `variables.it` is the object without its type, which kinds differ in."""
    return {"expression": expression.replace("object.", "variables.it."), "message": message}


def gpu_resource(cluster: Cluster, one: VirtualCluster) -> str | None:
    """Return the resource of whole GPUs of its pool; None where it may have none."""
    found = (offer.resource for offer in offers(cluster.pools[one.pool]) if offer.whole)
    return next(found, None) if one.gpus else None
