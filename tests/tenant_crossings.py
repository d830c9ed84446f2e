"""Tries at tenants' lines: patches of pods and of the objects around them, and how they are written."""

from __future__ import annotations

from typing import Any, NamedTuple

from make import IMAGE

DIGEST = "@sha256:" + "4f0c7e2ab95d8136" * 4
ELSEWHERE = f"evil.example.net/x{DIGEST}"


class Try(NamedTuple):
    """One try: the number of its class, the object that is patched, the patch, and what is refused."""

    number: str
    target: str
    merge: dict[str, Any]
    subject: str


def pod(number: str, subject: str, **spec: Any) -> Try:
    """Return a try in a pod's spec."""
    return Try(number, "Pod", {"spec": spec}, subject)


def noted(number: str, subject: str = "label", **metadata: Any) -> Try:
    """Return a try in a pod's metadata."""
    return Try(number, "Pod", {"metadata": metadata}, subject)


def more(number: str, subject: str, **container: Any) -> Try:
    """Return a try in a container of one's own, right but for that."""
    return pod(number, subject, containers=[{**SIDE, **container}])


def volume(number: str, subject: str = "volume", **source: Any) -> Try:
    """Return a try of a volume."""
    return pod(number, subject, volumes=[{"name": "v", **source}])


def avoiding(**term: Any) -> dict[str, Any]:
    """Return anti-affinity of one term."""
    whole = {"topologyKey": "kubernetes.io/os", "labelSelector": {}, **term}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [whole]}}


def patched(**spec: Any) -> dict[str, Any]:
    """Return a patch of a TrainJob by which it patches the pods of its runtime."""
    job = {"name": "node", "template": {"spec": {"template": {"spec": spec}}}}
    whole = {"template": {"spec": {"replicatedJobs": [job]}}}
    return {"spec": {"runtimePatches": [{"manager": "example.com/x", "trainingRuntimeSpec": whole}]}}


SIDE: dict[str, Any] = {
    "name": "side",
    "image": IMAGE,
    "resources": {"limits": {"cpu": "100m", "memory": "64Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"}},
    "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
}


def disk(**amounts: str) -> dict[str, Any]:
    """Return resources of a container of one's own, with more of local disk or another resource."""
    found = {key: dict(said) for key, said in SIDE["resources"].items()}
    for key, text in amounts.items():
        found[key]["ephemeral-storage"] = text
    return found


RIGHTS = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Ei"}}}
MANAGED = {"argocd.argoproj.io/sync-options": "Prune=false"}
