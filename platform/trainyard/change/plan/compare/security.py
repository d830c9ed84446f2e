"""What pods may that Kubernetes' strictest level forbids, or that reaches beyond them, told from their templates.

Facts: Pod Security Standards, profile restricted (k8s.io/pod-security-admission v0.35.4 policy/); a pod gets the token
of its service account unless it says otherwise (kubernetes v1.35.4 plugin/pkg/admission/serviceaccount/admission.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.manifests import value_at
from trainyard.upstream.workloads import carrier_of, pod_sets_of

CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
HOST = {"hostNetwork": "the node's network", "hostPID": "the node's processes", "hostIPC": "the node's memory segments"}
SYSTEM = "system-"
"""What Kubernetes' own priority classes begin with, which evict everything else."""


def loosened(objects: Iterable[Any]) -> dict[str, None]:
    """Return the loosened settings of the pods of objects, each once, in order."""
    known = [value for value in objects if isinstance(value, Mapping)]
    found: dict[str, None] = {}
    for value in known:
        if carrier_of(value) is not None:
            for _, template in pod_sets_of(value, known):
                found |= dict.fromkeys(of_pod(value_at(template, ("spec",))))
    return found


def of_pod(spec: Any) -> Iterator[str]:
    """Yield the loosened settings of a pod."""
    if not isinstance(spec, Mapping):
        return
    yield from (f"pods use {what}" for field, what in HOST.items() if spec.get(field) is True)
    for volume in each(spec.get("volumes")):
        path = value_at(volume, ("hostPath", "path"))
        if path is not None:
            yield f"volume {volume.get('name')} is {path} of the node"
        for source in each(value_at(volume, ("projected", "sources"))):
            if "serviceAccountToken" in source:
                yield f"volume {volume.get('name')} has a token of the service account"
    if spec.get("automountServiceAccountToken") is not False:
        yield f"pods have a token of service account {spec.get('serviceAccountName') or 'default'}"
    priority = spec.get("priorityClassName")
    if isinstance(priority, str) and priority.startswith(SYSTEM):
        yield f"pods have priority {priority}, which evicts everything else"
    security = spec.get("securityContext") if isinstance(spec.get("securityContext"), Mapping) else {}
    for field in CONTAINERS:
        for container in each(spec.get(field)):
            yield from of_container(container, security)


def of_container(container: Mapping[str, Any], pod: Any) -> Iterator[str]:
    """Yield the loosened settings of a container; the pod's settings apply where it has none."""
    name = f"container {container.get('name')}"
    own = container.get("securityContext")
    own = own if isinstance(own, Mapping) else {}
    if own.get("privileged") is True:
        yield f"{name} is privileged"
    elif own.get("allowPrivilegeEscalation") is not False:
        yield f"{name} may gain privileges"
    added = value_at(own, ("capabilities", "add"))
    if isinstance(added, list) and added:
        yield f"{name} has capabilities {', '.join(sorted(map(str, added)))}"
    user = own.get("runAsUser", pod.get("runAsUser"))
    if user == 0 or (user is None and own.get("runAsNonRoot", pod.get("runAsNonRoot")) is not True):
        yield f"{name} {'is' if user == 0 else 'may be'} root"
    for field in ("seccompProfile", "appArmorProfile"):
        if value_at(own, (field, "type")) == "Unconfined" or (
            field not in own and value_at(pod, (field, "type")) == "Unconfined"
        ):
            yield f"{name} has no {field.removesuffix('Profile')}"
    if own.get("procMount") == "Unmasked":
        yield f"{name} sees all of /proc"
    ports = sorted({port["hostPort"] for port in each(container.get("ports")) if isinstance(port.get("hostPort"), int)})
    if ports:
        yield f"{name} listens on the node, port {', '.join(map(str, ports))}"


def each(value: Any) -> list[Mapping[str, Any]]:
    """Return the maps in a list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
