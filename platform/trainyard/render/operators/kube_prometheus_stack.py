"""kube-prometheus-stack: Prometheus Operator and its Prometheus, with what our rules read.

Facts: prometheus-community/helm-charts kube-prometheus-stack-88.5.3 charts/kube-prometheus-stack/values.yaml,
charts/kube-state-metrics/values.yaml, charts/prometheus-node-exporter/values.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import JOB, RUN, TEAM
from trainyard.render.operators.base import Conflict, Operator, Site, merge, nest_value
from trainyard.render.operators.stated_values import if_false, stated
from trainyard.render.parts import prometheus
from trainyard.specs import Cluster
from trainyard.specs.metrics import exporters
from trainyard.specs.models.monitoring import Monitoring
from trainyard.specs.releases.facts import lookup

CHART = "prometheus-community/helm-charts kube-prometheus-stack-88.5.3 charts/kube-prometheus-stack/values.yaml"

LABELS = "kube-state-metrics.metricLabelsAllowlist"
STATES = "kube-state-metrics.customResourceState.config"

CONTROL_PLANE = ("kubeControllerManager", "kubeEtcd", "kubeProxy", "kubeScheduler")
"""Parts that answer nobody outside their own machine, or that the provider hides: their alerts would fire for ever."""

PLACED = (
    "alertmanager.alertmanagerSpec",
    "kube-state-metrics",
    "prometheus.prometheusSpec",
    "prometheusOperator",
)
"""Pods that need no GPU, by the section that places them."""


class KubePrometheusStack(Operator):
    """The chart, away from GPUs, with series for each run; Grafana is left out, as its password would be the chart's.

    Definitions come with the chart by server-side apply, as they are too large for the annotation of the other way.
    The webhook of rules is off: its certificate would be made by hooks at each sync, and ours are tested.
    """

    name = "kube-prometheus-stack"

    def values(self, site: Site) -> dict[str, Any]:
        """Return the parts that are installed, their nodes, and the labels and states that they tell."""
        monitoring = site.cluster.monitoring or Monitoring()
        found: dict[str, Any] = {
            "grafana": {"enabled": False},
            "prometheusOperator": {"admissionWebhooks": {"enabled": False}, "tls": {"enabled": False}},
            **{part: {"enabled": False} for part in CONTROL_PLANE},
            "prometheus": {"prometheusSpec": {"retention": f"{monitoring.retention_days}d", **storage(monitoring)}},
            "kube-state-metrics": state_metrics(site.cluster),
            "prometheus-node-exporter": {
                "tolerations": [{"operator": "Exists"}],
                "prometheus": {"monitor": {"relabelings": [prometheus.OF_NODE]}},
            },
        }
        selector = placement(site.cluster, monitoring)
        for section in PLACED if selector else ():
            found = merge(found, nest_value(f"{section}.nodeSelector", selector))
        return found

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield values that leave rules without series, or monitors without their definitions."""
        why = "then monitors and rules have no definitions; remove it"
        yield from if_false(site, {"crds.enabled": why}, CHART, breaks=False)
        needed = {
            "prometheus.enabled": "then nobody reads metrics; remove it",
            "prometheusOperator.enabled": "then monitors and rules have no effect; remove it",
            "kubeStateMetrics.enabled": "then no alert knows a run; remove it",
            "kube-state-metrics.customResourceState.enabled": "then no alert knows a queue or a JobSet; remove it",
            "nodeExporter.enabled": "then no alert sees a node's links; remove it",
            "kubelet.enabled": "then no alert sees volumes and traffic of pods; remove it",
        }
        yield from if_false(site, needed, CHART)
        said = stated(site, LABELS)
        if isinstance(said, list):
            text = " ".join(map(str, said))
            missing = [one for one in (RUN, TEAM) if one not in text]
            if missing:
                message = f"{LABELS} replaces the derived list and misses {missing[0]} of pods; add it"
                yield Conflict(LABELS, message, CHART)
        said = lookup(site.choice.values, f"{STATES}.spec.resources")
        if isinstance(said, list) and said != lookup(configuration(site.cluster), "spec.resources"):
            message = f"{STATES}.spec.resources replaces the derived list; alerts of runs need it; remove it"
            yield Conflict(f"{STATES}.spec.resources", message, CHART)


def storage(monitoring: Monitoring) -> dict[str, Any]:
    """Return the volume that keeps series, where the file names a class for it."""
    if monitoring.storage_class is None:
        return {}
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": monitoring.storage_class,
        "resources": {"requests": {"storage": monitoring.storage_size}},
    }
    return {"storageSpec": {"volumeClaimTemplate": {"spec": claim}}}


def placement(cluster: Cluster, monitoring: Monitoring) -> dict[str, str]:
    """Return the labels of the nodes for pods without GPUs: of the pool that is named, else of the first one without.

    A pool with taints takes no pods that do not tolerate them.
    """
    plain = (name for name, pool in cluster.pools.items() if pool.node.gpus is None and not pool.taints)
    pool_name = monitoring.pool or next(plain, None)
    return cluster.selector_of(pool_name) if pool_name in cluster.pools else {}


def allowed_labels(cluster: Cluster) -> list[str]:
    """Return the labels of objects that kube-state-metrics tells; without them no series belongs to a run."""
    of_run = ",".join((RUN, TEAM, JOB))
    of_node = ",".join(sorted({key for selector in cluster.selectors.values() for key in selector}))
    return [f"pods=[{of_run}]", f"jobs=[{of_run}]", f"nodes=[{of_node}]"]


def state_metrics(cluster: Cluster) -> dict[str, Any]:
    """Return the values of kube-state-metrics: labels of runs, and the states of workloads and JobSets."""
    found: dict[str, Any] = {"metricLabelsAllowlist": allowed_labels(cluster)}
    chosen = states(cluster)
    if chosen:
        rules = [
            {
                "apiGroups": [one["groupVersionKind"]["group"]],
                "resources": [one["plural"]],
                "verbs": ["list", "watch"],
            }
            for one in chosen
        ]
        found["rbac"] = {"extraRules": rules}
        found["customResourceState"] = {"enabled": True, "config": configuration(cluster)}
    return found


def states(cluster: Cluster) -> list[dict[str, Any]]:
    """Return the kinds whose states kube-state-metrics tells, as the table of metrics has them."""
    table = exporters()["custom-resource-state"].resources
    return [one for one in table if one["operator"] in cluster.operators]


def configuration(cluster: Cluster) -> dict[str, Any]:
    """Return the configuration of kube-state-metrics for these kinds."""
    resources = [
        {key: value for key, value in one.items() if key not in {"operator", "plural"}} for one in states(cluster)
    ]
    return {"kind": "CustomResourceStateMetrics", "spec": {"resources": resources}}


OPERATOR = KubePrometheusStack()
