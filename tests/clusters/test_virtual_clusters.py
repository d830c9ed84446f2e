"""A virtual cluster: what bounds it on its host, what its chart is given, and what its syncer may not make.

The cases were tried on kube-apiserver 1.35.4 with the syncer of vCluster 0.36.1; the server answered the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from helm.renders import recorded
from make import CLUSTER, make_cluster, make_repository, make_team
from trainyard.base.labels import PROTECTED
from trainyard.render.clusters import virtual_clusters
from trainyard.render.clusters.applications import Follower, chart_apps
from trainyard.render.clusters.projects import operators_spec, virtual_spec
from trainyard.render.operators.install import installed_operators
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster
from trainyard.upstream.apiserver.admission import policies as engine
from trainyard.upstream.apiserver.admission.policies import Request, Surroundings
from trainyard.upstream.apiserver.admission.policies.request import guess_of

SYNCER = "system:serviceaccount:vc-lab:vc-lab"
STATEFUL = "system:serviceaccount:kube-system:statefulset-controller"
BINDER = "system:serviceaccount:kube-system:persistent-volume-binder"
POOL = {"trainyard.dev/pool": "gpu"}


@cache
def cluster(gpus: int = 2, distribution: str = "kubeadm") -> Cluster:
    """Return a cluster with a virtual cluster on a tainted pool."""
    pools = {**CLUSTER["pools"]}
    pools["gpu"] = {**pools["gpu"], "taints": [{"key": "example.com/serving", "value": "true"}]}
    return make_cluster(
        pools=pools,
        operators={**CLUSTER["operators"], "vcluster": {"version": "0.36.1"}},
        system={"distribution": distribution},
        virtual_clusters={
            "lab": {"team": "nlp", "pool": "gpu", "gpus": gpus, "cpus": 16, "memory": "64Gi", "storage": "local"}
        },
    )


def objects(of: Cluster) -> dict[str, Resource]:
    """Return the objects of its folder by kind and name."""
    return {f"{one.kind}/{one.name}": one for one in virtual_clusters.resources(of, "lab", make_team())}


def test_nothing_of_it_is_pruned():
    """Its control plane stays when the entry goes, so its bounds must."""
    assert all(one.annotations.items() >= PROTECTED.items() for one in objects(cluster()).values())


def test_the_quota_has_gpus_of_the_file_and_no_others():
    """Without GPUs their resource is there with zero, as one that a quota does not name is unbounded."""
    hard = {gpus: objects(cluster(gpus))["ResourceQuota/virtual-cluster"].fields["spec"]["hard"] for gpus in (0, 2)}
    assert {gpus: one["requests.nvidia.com/gpu"] for gpus, one in hard.items()} == {0: "0", 2: "2"}
    assert (hard[2]["limits.memory"], hard[2]["services.loadbalancers"]) == ("64Gi", "0")


def test_no_limit_range_fills_in_what_containers_leave_out():
    """The syncer would try to take it back and never report the pod as running."""
    kinds = {one.kind for one in objects(cluster()).values()}
    assert "ResourceQuota" in kinds
    assert "LimitRange" not in kinds


def test_people_get_the_kubeconfig_and_nothing_else():
    """Every right to an object names it; quotas may be seen."""
    rules = objects(cluster())["Role/team"].fields["rules"]
    named = {tuple(rule["resources"]): rule.get("resourceNames") for rule in rules}
    assert named.pop(("resourcequotas",)) is None
    assert named == {("secrets",): ["vc-lab"], ("pods",): ["lab-0"], ("pods/portforward",): ["lab-0"]}


def test_openshift_lets_its_pods_have_users():
    """Its usual constraint refuses the user that the control plane names."""
    assert "RoleBinding/pods-nonroot-v2" in objects(cluster(distribution="openshift"))
    assert not [name for name in objects(cluster()) if name.startswith("RoleBinding/pods-")]


def test_the_chart_copies_pods_to_the_pool_and_nothing_that_needs_rights_outside():
    """The project of Argo CD would refuse it: no ClusterRole, and no other namespace."""
    of = cluster()
    follower = Follower("test", of, make_repository())
    apps = [app for site, known in installed_operators(of) for app in chart_apps(follower, site, known)]
    (app,) = [app for app in apps if app.project == "virtual-clusters"]
    values = app.source["helm"]["valuesObject"]
    assert (app.part, app.source["helm"]["releaseName"], app.destination["namespace"]) == (
        "vcluster-lab-chart",
        "lab",
        "vc-lab",
    )
    assert values["sync"]["fromHost"]["nodes"] == {"enabled": False, "selector": {"labels": POOL}}
    assert values["sync"]["toHost"]["pods"]["enforceTolerations"] == ["example.com/serving=true:NoSchedule"]
    assert values["rbac"]["clusterRole"]["enabled"] is False
    assert values["controlPlane"]["distro"]["k8s"]["image"]["tag"] == "v1.35.0"
    spec = virtual_spec(follower)
    assert "ClusterRole" not in {item["kind"] for item in spec["clusterResourceWhitelist"]}
    others = operators_spec(follower, list(installed_operators(of)))
    assert "https://charts.loft.sh" not in others["sourceRepos"]


def test_the_project_allows_what_the_chart_makes():
    """Helm's objects for the values of the repository's own virtual cluster are of the project's kinds."""
    ((case, answer),) = [pair for pair in recorded("charts.jsonl.gz") if pair[0]["name"] == "tundra/vcluster"]
    made = {tuple(text.split(" ")[:2]) for text in answer["objects"]}
    assert made == {(kind, case["namespace"]) for kind, _ in made}
    assert {kind for kind, _ in made} <= set(virtual_clusters.KINDS)


def pod(**spec: Any) -> dict[str, Any]:
    """Return a pod as the syncer makes it."""
    container = {"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}}}
    container |= spec.pop("container", {})
    metadata = {"name": "x-x-default-x-lab", "namespace": "vc-lab", **spec.pop("metadata", {})}
    inside = {"nodeSelector": POOL, "serviceAccountName": "vc-workload-lab", "containers": [container], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": inside}


def claim(**spec: Any) -> dict[str, Any]:
    """Return a claim."""
    spec = {"storageClassName": "local", "accessModes": ["ReadWriteOnce"], **spec}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "d", "namespace": "vc-lab"},
        "spec": spec,
    }


def service(**spec: Any) -> dict[str, Any]:
    """Return a Service."""
    spec = {"ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "vc-lab"}, "spec": spec}


def limits(**more: Any) -> dict[str, Any]:
    """Return a container's fields with limits."""
    return {"container": {"resources": {"limits": {"memory": "1Gi", **more}}}}


def env(name: str, value: str) -> dict[str, Any]:
    """Return a container's fields with a variable."""
    return {"container": {"env": [{"name": name, "value": value}]}}


SOFT = [{"key": f"node.kubernetes.io/{key}", "operator": "Exists"} for key in ("not-ready", "unschedulable")]
CONTROL_PLANE = {"metadata": {"labels": {"app": "vcluster", "release": "lab"}}, "serviceAccountName": "vc-lab"}

TRIES: dict[str, tuple[dict[str, Any], str, str]] = {
    "an ordinary pod": (pod(), SYNCER, ""),
    "GPUs of the quota": (pod(**limits(**{"nvidia.com/gpu": 1})), SYNCER, ""),
    "a pod of a DaemonSet": (pod(tolerations=SOFT), SYNCER, ""),
    "the pool's taint": (pod(tolerations=[{"key": "example.com/serving", "operator": "Exists"}]), SYNCER, ""),
    "a label of its own": (pod(metadata={"labels": {"app": "web", "kueue": "no"}}), SYNCER, ""),
    "a variable that hides": (pod(**env("NVIDIA_VISIBLE_DEVICES", "void")), SYNCER, ""),
    "the control plane": (pod(**CONTROL_PLANE), STATEFUL, ""),
    "the control plane's label and account": (pod(**CONTROL_PLANE), SYNCER, "control plane"),
    "another pool": (pod(nodeSelector={"trainyard.dev/pool": "cpu"}), SYNCER, "nodeSelector"),
    "no pool": (pod(nodeSelector={}), SYNCER, "nodeSelector"),
    "a node by name": (pod(nodeName="cpu-0"), SYNCER, "nodeName"),
    "every taint": (pod(tolerations=[{"operator": "Exists"}]), SYNCER, "tolerations"),
    "a taint of others": (pod(tolerations=[{"key": "example.com/x", "operator": "Exists"}]), SYNCER, "tolerations"),
    "a priority": (pod(priorityClassName="high", priority=1000), SYNCER, "priorityClassName"),
    "another scheduler": (pod(schedulerName="volcano"), SYNCER, "schedulerName"),
    "a day to end": (pod(terminationGracePeriodSeconds=86400), SYNCER, "terminationGracePeriodSeconds"),
    "a runtime": (pod(runtimeClassName="nvidia"), SYNCER, "runtimeClassName"),
    "a queue": (pod(metadata={"labels": {"kueue.x-k8s.io/queue-name": "research"}}), SYNCER, "labels"),
    "a topology": (pod(metadata={"annotations": {"kueue.x-k8s.io/podset-required-topology": "r"}}), SYNCER, "labels"),
    "a network": (pod(metadata={"annotations": {"k8s.v1.cni.cncf.io/networks": "nlp/rail0"}}), SYNCER, "labels"),
    "devices by annotation": (pod(metadata={"annotations": {"cdi.k8s.io/x": "nvidia.com/gpu=all"}}), SYNCER, "labels"),
    "devices by variable": (pod(**env("NVIDIA_VISIBLE_DEVICES", "all")), SYNCER, "variables"),
    "RDMA": (pod(**limits(**{"rdma/nics": 1})), SYNCER, "resources"),
    "a volume of a driver": (pod(volumes=[{"name": "v", "csi": {"driver": "nfs.csi.k8s.io"}}]), SYNCER, "csi"),
    "a claim of devices": (pod(resourceClaims=[{"name": "g", "resourceClaimName": "g"}]), SYNCER, "resourceClaims"),
    "a claim": (claim(), SYNCER, ""),
    "a claim of another class": (claim(storageClassName="shared"), SYNCER, "storageClassName"),
    "a claim of the default class": (claim(storageClassName=None), SYNCER, "storageClassName"),
    "a volume of others": (claim(volumeName="nlp-books"), SYNCER, "volumeName"),
    "a volume that is bound": (claim(volumeName="pvc-1"), BINDER, ""),
    "a clone from elsewhere": (
        claim(dataSourceRef={"namespace": "nlp", "kind": "X", "name": "y"}),
        SYNCER,
        "dataSource",
    ),
    "a Service": (service(), SYNCER, ""),
    "a Service without address": (service(clusterIP="None"), SYNCER, ""),
    "a load balancer": (service(type="LoadBalancer"), SYNCER, "ClusterIP"),
    "a port of nodes": (service(type="NodePort"), SYNCER, "ClusterIP"),
    "an address of others": (service(externalIPs=["192.0.2.1"]), SYNCER, "ClusterIP"),
}


@cache
def shipped() -> tuple[tuple[engine.Policy, tuple[engine.Binding, ...]], ...]:
    """Return both policies, compiled, each with its binding."""
    every = objects(cluster())
    return tuple(
        (
            engine.load({"metadata": {"name": one.name}, **one.fields}, minor=35),
            (engine.load_binding({"metadata": {"name": one.name}, **every[f"{one.kind}Binding/{one.name}"].fields}),),
        )
        for one in every.values()
        if one.kind == "ValidatingAdmissionPolicy"
    )


def said(value: dict[str, Any], user: str) -> Iterator[str]:
    """Yield why the policies refuse what somebody writes."""
    around = Surroundings({"vc-lab": {"metadata": {"name": "vc-lab"}}}, complete=True)
    request = Request(guess_of("v1", value["kind"]), value, user={"username": user})
    return (decision.message for decision in engine.judge(shipped(), request, around))


@pytest.mark.parametrize(("value", "user", "why"), TRIES.values(), ids=TRIES)
def test_the_host_holds_what_a_team_writes(value, user, why):
    """A refusal is by a rule whose message names the field; errors of expressions would name none."""
    found = list(said(value, user))
    assert bool(found) is bool(why), found
    assert all(why in message and "resulted in error" not in message for message in found), found
