"""Where services of NVIDIA NIM are, and how they are called.

Facts: NVIDIA/k8s-nim-operator v3.1.2 api/apps/v1alpha1/nimservice_types.go, common_types.go.
"""

from __future__ import annotations

from trainyard.specs import Cluster

OPERATOR = "nim-operator"

PORT = 8000
"""Port of a service's API, the operator's default."""

SERVED = {"app.kubernetes.io/part-of": "nim-service"}
"""Labels of the pods that serve (NIMService.GetStandardLabels)."""


def namespace(cluster: Cluster, team: str) -> str:
    """Return the namespace of a team's services: that of its runs with `nim-` before it."""
    return f"nim-{cluster.namespace_of(team)}"


def called_namespaces(cluster: Cluster, team: str) -> list[str]:
    """Return the namespaces of the services that pods of a team may call."""
    services, place = cluster.nim.services.values() if cluster.nim else (), cluster.namespace_of(team)
    called = (service for service in services if service.team == team or place in service.clients)
    return sorted({namespace(cluster, service.team) for service in called})


def held_gpus(cluster: Cluster, pool: str) -> int:
    """Return how many GPUs of a pool the services hold."""
    services = cluster.nim.services.values() if cluster.nim else ()
    return sum(service.replicas * service.gpus_per_pod for service in services if service.pool == pool)
