"""Objects of a cluster that has most of what cumulus needs, for an API server that can be thrown away."""

from __future__ import annotations

POOL, LAYER = "trainyard.dev/pool", "topology.k8s.aws/network-node-layer-"
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
OTHER = {"key": "example.com/repair", "effect": "NoSchedule"}
DRIVER = "fsx.csi.aws.com"
HOST = "p5-{}"

ALLOCATABLE = {
    "cpu": "191450m",
    "memory": "2025939Mi",
    "ephemeral-storage": "26091926280000",
    "hugepages-2Mi": "10256Mi",
    "pods": "110",
    "nvidia.com/gpu": "8",
    "vpc.amazonaws.com/efa": "32",
}


def node(number):
    """Return a node; the second is tainted, the third has no third layer, and on the fourth EFA is missing."""
    labels = {POOL: "h100", f"{LAYER}1": "nn-1", f"{LAYER}2": "nn-2", f"{LAYER}3": "nn-3"}
    labels |= {"nvidia.com/cuda.driver-version.full": "580.126.20"}
    if number == 3:
        del labels[f"{LAYER}3"]
    allocatable = {**ALLOCATABLE, **({"vpc.amazonaws.com/efa": "0"} if number == 4 else {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": HOST.format(number), "labels": labels},
        "spec": {"taints": [TAINT, *([OTHER] if number == 2 else [])]},
        "status": {
            "allocatable": allocatable,
            "capacity": allocatable,
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": "",
                "containerRuntimeVersion": "containerd://2.1.4",
                "kernelVersion": "6.12.40-63.114.amzn2023.x86_64",
                "kubeProxyVersion": "",
                "kubeletVersion": "v1.35.2-eks-1a2b3c4",
                "machineID": "",
                "operatingSystem": "linux",
                "osImage": "Amazon Linux 2023",
                "systemUUID": "",
            },
        },
    }


def storage_node(number):
    """Return what the kubelet of a node says of storage drivers; that of the fifth has none."""
    drivers = [] if number == 5 else [{"name": DRIVER, "nodeID": HOST.format(number), "topologyKeys": []}]
    owner = {"apiVersion": "v1", "kind": "Node", "name": HOST.format(number), "uid": "x"}
    metadata = {"name": HOST.format(number), "ownerReferences": [owner]}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata, "spec": {"drivers": drivers}}


def definition(plural, group, kind, *versions):
    """Return a definition that serves some versions of a kind."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = [{"name": name, "served": True, "storage": name == versions[0], "schema": schema} for name in versions]
    names = {"plural": plural, "singular": kind.lower(), "kind": kind}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": served},
    }


def webhooks(name, service):
    """Return a configuration of one webhook, for a group that no object has."""
    config = {"service": {"namespace": "default", "name": service, "path": "/check"}}
    rules = [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["widgets"]}]
    webhook = {
        "name": "check.example.com",
        "clientConfig": config,
        "rules": rules,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [webhook],
    }


def objects():
    """Yield collection and object; an old MPI operator serves v1 alone, and there is no GPU Operator.

    One webhook answers, and that of a program which is gone does not.
    """
    for name in ("there", "removed"):
        collection = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        yield collection, webhooks(name, service=name)
    metadata = {"name": "there", "namespace": "default"}
    port = {"port": 443, "protocol": "TCP"}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [port]}}
    yield "/api/v1/namespaces/default/services", service
    yield (
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {**metadata, "labels": {"kubernetes.io/service-name": "there"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": True}}],
            "ports": [port],
        },
    )
    for number in range(1, 9):
        yield "/api/v1/nodes", node(number)
        yield "/apis/storage.k8s.io/v1/csinodes", storage_node(number)
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER}}
    yield "/apis/storage.k8s.io/v1/csidrivers", {**driver, "spec": {"attachRequired": False}}
    old = definition("mpijobs", "kubeflow.org", "MPIJob", "v1")
    yield "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", old
    yield "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "nlp"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "wandb", "namespace": "nlp"}}
    yield "/api/v1/namespaces/nlp/secrets", {**secret, "stringData": {"api-key": "not-for-anybody"}}
