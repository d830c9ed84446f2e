"""Where the Prometheus of a cluster is, and what its pods are as a source of traffic."""

from __future__ import annotations

from typing import Any

from trainyard.base.labels import NAMESPACE
from trainyard.specs import Cluster
from trainyard.specs.releases import release

OPERATOR = "kube-prometheus-stack"
"""The operator that installs Prometheus where there is none."""

PROMETHEUS = {"app.kubernetes.io/name": "prometheus"}
"""Labels of Prometheus' pods (prometheus-operator v0.93.0 pkg/prometheus/server/statefulset.go)."""

OF_NODE: dict[str, Any] = {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
"""A relabeling that gives every series of a pod the name of its node."""


def namespace(cluster: Cluster) -> str | None:
    """Return the namespace of Prometheus, its monitors and rules; None of a cluster that nobody watches."""
    monitoring = cluster.monitoring
    if monitoring is None:
        return None
    if monitoring.existing is not None:
        return monitoring.existing.namespace
    facts = release(OPERATOR)
    assert facts is not None
    return facts.namespace


def peer(place: str) -> dict[str, Any]:
    """Return Prometheus' pods as the source of traffic."""
    return {
        "namespaceSelector": {"matchLabels": {NAMESPACE: place}},
        "podSelector": {"matchLabels": PROMETHEUS},
    }
