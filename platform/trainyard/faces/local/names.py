"""Which names a cluster's DNS would know, and for which pods.

Facts: Kubernetes DNS-based service discovery 1.1.0; kubernetes v1.35 pkg/kubelet/kubelet_pods.go, network/dns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.faces.local.controllers.base import Object, Objects, Pod

DOMAIN = "svc.cluster.local"


def known_addresses(pods: Iterable[Pod], objects: Objects, addresses: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the addresses of every name that resolves; pods in other namespaces would need longer ones.

    A name below a Service is there only if the Service is, and selects the pod.
    """
    found: dict[str, list[str]] = {}
    everyone = list(pods)
    searches = sorted({search for pod in everyone for search in searched(pod)})
    for service in (value for value in objects.values if value.get("kind") == "Service"):
        for pod in everyone:
            if selects(service, pod):
                for name in (*of_service(service, pod), *of_pod(service, pod)):
                    for alias in (name, *shortened(name, searches)):
                        there = found.setdefault(alias, [])
                        if addresses[pod.name] not in there:
                            there.append(addresses[pod.name])
    return {name: tuple(there) for name, there in sorted(found.items())}


def selects(service: Object, pod: Pod) -> bool:
    """Whether a Service is for a pod."""
    metadata, wanted = pod.value["metadata"], service["spec"].get("selector") or {}
    same = (service["metadata"].get("namespace") or metadata["namespace"]) == metadata["namespace"]
    labels = metadata["labels"]
    return same and bool(wanted) and all(labels.get(key) == value for key, value in wanted.items())


def of_service(service: Object, pod: Pod) -> Iterator[str]:
    """Yield the names of the Service itself."""
    name, namespace = service["metadata"]["name"], pod.value["metadata"]["namespace"]
    yield from (name, f"{name}.{namespace}", f"{name}.{namespace}.svc", f"{name}.{namespace}.{DOMAIN}")


def of_pod(service: Object, pod: Pod) -> Iterator[str]:
    """Yield a pod's own names below a headless Service that it names as its subdomain."""
    spec: Mapping[str, Any] = pod.spec
    headless = service["spec"].get("clusterIP") == "None"
    if headless and spec.get("hostname") and spec.get("subdomain") == service["metadata"]["name"]:
        yield from (f"{spec['hostname']}.{name}" for name in of_service(service, pod))


def searched(pod: Pod) -> list[str]:
    """Return the domains in which a pod looks for names beside its namespace's."""
    return list((pod.spec.get("dnsConfig") or {}).get("searches") or ())


def shortened(name: str, searches: Iterable[str]) -> Iterator[str]:
    """Yield the name without a domain that pods look in."""
    yield from (name.removesuffix(f".{searche}") for searche in searches if name.endswith(f".{searche}"))
