"""What Prometheus reads on a cluster: a monitor for each exporter, and the right to read those that ask for one.

All monitors are ours and stand beside Prometheus, with one set of labels. Those of charts are left off: Kueue's has no
labels and gives rights to accounts of another name, JobSet's fails to render before the definition is there (jobset
v0.12.0 charts/jobset/templates/prometheus/monitor.yaml), and the GPU Operator's leaves a pod's own labels aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.render.parts import prometheus, tracking
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster
from trainyard.specs.metrics import Exporter, Scrape, exporters
from trainyard.specs.models.monitoring import Monitoring
from trainyard.specs.releases import release

PROJECT, RELEASE = "prometheus-operator", "0.93.0"
"""The project of their API types, and the release by which they are checked, that of the chart (appVersion v0.93.1)."""

API = "monitoring.coreos.com/v1"
KINDS = ("PodMonitor", "PrometheusRule", "ServiceMonitor")
ACCESS = "trainyard-metrics-reader"

TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105 - a path
"""Prometheus' own token, as charts of Kueue and JobSet have it in their monitors."""

STATES = "custom-resource-state"
ARGOCD = "argo-cd"


def labels(monitoring: Monitoring) -> dict[str, str]:
    """Return the labels by which Prometheus selects monitors and rules; the chart's has its release."""
    return dict(monitoring.existing.labels) if monitoring.existing else {"release": prometheus.OPERATOR}


def there(cluster: Cluster) -> dict[str, Exporter]:
    """Return the exporters of a cluster, by name."""
    argocd = cluster.monitoring is not None and cluster.monitoring.argocd
    found = {}
    for name, exporter in exporters().items():
        states = name != STATES or {one["operator"] for one in exporter.resources} & set(cluster.operators)
        brought = exporter.operator is None or exporter.operator in cluster.operators
        served = name != tracking.MLFLOW or tracking.has_server(cluster)
        if states and brought and served and (name != ARGOCD or argocd):
            found[name] = exporter
    return found


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield the monitors of the cluster's exporters, and the right to read metrics where it is ours to give."""
    monitoring, place = cluster.monitoring, prometheus.namespace(cluster)
    if monitoring is None or place is None:
        return
    for name, exporter in there(cluster).items():
        if exporter.scrape is not None:
            yield monitor(cluster, monitoring, name, exporter, exporter.scrape)
    account = monitoring.existing.service_account if monitoring.existing else None
    if account is not None:
        yield from access(place, account)


def monitor(cluster: Cluster, monitoring: Monitoring, name: str, exporter: Exporter, scrape: Scrape) -> Resource:
    """Return the monitor of an exporter; labels that it gives its series count before those of its pod.

    Certificates of controllers are signed by themselves, and looked at by none of their charts' monitors either.
    """
    endpoint: dict[str, Any] = {
        **({"port": scrape.port} if scrape.port else {}),
        "path": "/metrics",
        "interval": scrape.interval,
        "honorLabels": True,
        "relabelings": [
            prometheus.OF_NODE,
            {"targetLabel": "job", "replacement": name},
            *undeclared(scrape),
        ],
    }
    if scrape.authorized:
        endpoint |= {"scheme": "https", "bearerTokenFile": TOKEN, "tlsConfig": {"insecureSkipVerify": True}}
    by_pods = scrape.pods is not None
    spec = {
        "namespaceSelector": places(cluster, exporter, scrape),
        "selector": {"matchLabels": scrape.pods if by_pods else scrape.service},
        "podMetricsEndpoints" if by_pods else "endpoints": [endpoint],
    }
    if scrape.pod_labels:
        spec["podTargetLabels"] = list(scrape.pod_labels)
    kind = "PodMonitor" if by_pods else "ServiceMonitor"
    fields, at = {"spec": spec}, ("monitoring",)
    return Resource(
        API, kind, f"trainyard-{name}", at, prometheus.namespace(cluster), labels(monitoring), fields=fields
    )


def undeclared(scrape: Scrape) -> Iterator[dict[str, Any]]:
    """Yield relabelings that find a container without declared ports; it is one target, with the pod's address alone.

    Source: prometheus v3.14.0 discovery/kubernetes/pod.go buildPod.
    """
    if scrape.container is not None:
        yield {
            "sourceLabels": ["__meta_kubernetes_pod_container_name"],
            "regex": re.escape(scrape.container),
            "action": "keep",
        }
        for family, address in (("([^:]+)", "$1"), ("(.*:.*)", "[$1]")):
            replaced = {"regex": family, "targetLabel": "__address__", "replacement": f"{address}:{scrape.number}"}
            yield {"sourceLabels": ["__meta_kubernetes_pod_ip"], **replaced}


def places(cluster: Cluster, exporter: Exporter, scrape: Scrape) -> dict[str, Any]:
    """Return the namespaces of an exporter: of teams, of its operator, or any where somebody else installs that."""
    if scrape.teams:
        return {"matchNames": list(cluster.namespaces())}
    if exporter.operator is None:
        return {"matchNames": [cluster.argocd.namespace]}
    facts = release(exporter.operator)
    if facts is None or not cluster.operators[exporter.operator].managed:
        return {"any": True}
    return {"matchNames": [facts.namespace]}


def access(place: str, account: str) -> Iterator[Resource]:
    """Yield the right to read metrics, which Kueue, JobSet and Trainer ask the API server about."""
    at = ("monitoring", "existing", "serviceAccount")
    rules = [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    api = "rbac.authorization.k8s.io"
    yield Resource(f"{api}/v1", "ClusterRole", ACCESS, at, fields={"rules": rules})
    binding = {
        "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": ACCESS},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": place}],
    }
    yield Resource(f"{api}/v1", "ClusterRoleBinding", ACCESS, at, fields=binding)


def kinds(cluster: Cluster) -> tuple[frozenset[str], frozenset[str]]:
    """Return the kinds of the folder `monitoring`, cluster-scoped and namespaced, as `group/Kind`."""
    given = cluster.monitoring is not None and cluster.monitoring.existing is not None
    wide = {"ClusterRole", "ClusterRoleBinding"} if given else set()
    group = API.partition("/")[0]
    boards = {"/ConfigMap"} if cluster.monitoring is not None and cluster.monitoring.grafana is not None else set()
    return (
        frozenset(f"rbac.authorization.k8s.io/{kind}" for kind in wide),
        frozenset({*boards, *(f"{group}/{kind}" for kind in KINDS)}),
    )


def scraped_in_teams(cluster: Cluster) -> Iterator[tuple[str, dict[str, str], int, str]]:
    """Yield exporters in namespaces of teams: name, labels of the pods, number of the port, and who reads them."""
    place = prometheus.namespace(cluster)
    for name, exporter in there(cluster).items() if place else ():
        scrape = exporter.scrape
        if scrape is not None and scrape.teams and scrape.pods and scrape.number and place:
            yield name, dict(scrape.pods), scrape.number, place
