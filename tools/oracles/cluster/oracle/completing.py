"""Stand-ins for kubelets and storage drivers: Jobs of charts end, and claims get their volumes."""

import base64
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from .api import Client
from .certs import Authority
from .paths import CHARTS

Object = dict[str, Any]

HOOK = "helm.sh/hook"
"""Marks a Job that a chart runs around its installation."""

NEEDS = {"network-operator-keep-ncp": "nicclusterpolicies.mellanox.com"}
"""Jobs whose program fails until a definition is served (Mellanox/network-operator v26.4.1 cmd/keep-ncp/main.go)."""

APPLIES = {"network-operator-upgrade-crd": "network-operator"}
"""Jobs that apply the definitions of their chart."""

CERTIFIES = {"volcano-admission-init": ("volcano-admission-service", "volcano-admission-secret")}
"""Jobs that make a new certificate for a Service and write it into a Secret (volcano-sh/volcano v1.15.1
installer/dockerfile/webhook-manager/gen-admission-secret.sh)."""

SELECTED = "volume.kubernetes.io/selected-node"
"""Marks a claim whose volume is made once a pod has a node."""


def complete(client: Client) -> None:
    """End the Jobs of charts whose pods run, and bind claims that wait for a driver."""
    for job in hook_jobs(client):
        finish(client, job)
    listed = client.get("/apis/storage.k8s.io/v1/storageclasses").must()["items"]
    classes = {item["metadata"]["name"]: item for item in listed}
    for claim in client.get("/api/v1/persistentvolumeclaims").must()["items"]:
        storage = classes.get(claim["spec"].get("storageClassName"))
        if claim["status"].get("phase") == "Pending" and is_due(claim, storage):
            client.request("POST", "/api/v1/persistentvolumes", volume(claim))


def hook_jobs(client: Client) -> Iterator[Object]:
    """Yield the Jobs of charts that have not ended."""
    for job in client.get("/apis/batch/v1/jobs").must()["items"]:
        if HOOK in (job["metadata"].get("annotations") or {}) and not job.get("status", {}).get("completionTime"):
            yield job


def finish(client: Client, job: Object) -> None:
    """End the running pods of a Job, as its program would."""
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    definition = NEEDS.get(name)
    if definition and not client.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{definition}").ok:
        return
    if chart := APPLIES.get(name):
        apply_definitions(client, chart)
    path = f"/api/v1/namespaces/{namespace}/pods"
    for pod in client.get(f"{path}?labelSelector=batch.kubernetes.io/job-name%3D{name}").must()["items"]:
        if pod["status"].get("phase") == "Running":
            if name in CERTIFIES:
                client.apply(certificate(namespace, *CERTIFIES[name])).must()
            ended = {"status": {"phase": "Succeeded"}}
            client.request("PATCH", f"{path}/{pod['metadata']['name']}/status", ended, "application/merge-patch+json")


def apply_definitions(client: Client, chart: str) -> None:
    """Apply the definitions of a chart and of the charts in it."""
    for file in sorted((CHARTS / chart).glob("*/**/crds/*.yaml")):
        for value in yaml.safe_load_all(file.read_text()):
            if value:
                client.apply(value)


def certificate(namespace: str, service: str, name: str) -> Object:
    """Return a Secret with a new certificate for a Service, and the new authority that signed it."""
    with tempfile.TemporaryDirectory() as folder:
        authority, host = Authority(Path(folder)), f"{service}.{namespace}.svc"
        crt, key = authority.issue(Path(folder) / "tls", host, dns=(service, f"{service}.{namespace}", host))
        files = {"ca.crt": authority.cert_path, "tls.crt": crt, "tls.key": key}
        data = {file: base64.b64encode(path.read_bytes()).decode() for file, path in files.items()}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}


def is_due(claim: Object, storage: Object | None) -> bool:
    """Whether a driver would make the volume of a claim now."""
    if storage is None or storage["provisioner"] == "kubernetes.io/no-provisioner":
        return False
    late = storage.get("volumeBindingMode") == "WaitForFirstConsumer"
    return not late or SELECTED in (claim["metadata"].get("annotations") or {})


def volume(claim: Object) -> Object:
    """Return the volume that a driver makes for a claim."""
    metadata, asked = claim["metadata"], claim["spec"]
    spec = {
        "capacity": asked["resources"]["requests"],
        "accessModes": asked["accessModes"],
        "storageClassName": asked["storageClassName"],
        "volumeMode": asked.get("volumeMode", "Filesystem"),
        "claimRef": {"namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]},
        "persistentVolumeReclaimPolicy": "Retain",
        "hostPath": {"path": "/nowhere"},
    }
    name = f"pvc-{metadata['uid']}"
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}
