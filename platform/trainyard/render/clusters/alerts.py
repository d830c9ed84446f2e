"""Recording rules and alerts of a cluster: those whose series it has, with its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.clusters import monitors
from trainyard.render.parts import prometheus, tracking
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing import burn_in
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.specs import Cluster
from trainyard.specs.alerts import RuleFact, fill, groups, recorded
from trainyard.specs.metrics import NAME, exporters_of
from trainyard.specs.models.monitoring import Monitoring

OVER_TCP = frozenset({"gpudirect-tcpx", "gpudirect-tcpxo"})
"""Fabrics whose traffic is TCP, so that nothing tells it from sockets."""


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield a PrometheusRule for each group that has rules on the cluster."""
    monitoring, place = cluster.monitoring, prometheus.namespace(cluster)
    if monitoring is None or place is None:
        return
    for name, rules in of_cluster(cluster, monitoring).items():
        written = {"groups": [{"name": f"trainyard-{name}", "rules": rules}]}
        fields, at = {"spec": written}, ("monitoring", "alerts")
        labels = monitors.labels(monitoring)
        yield Resource(monitors.API, "PrometheusRule", f"trainyard-{name}", at, place, labels, fields=fields)


def of_cluster(cluster: Cluster, monitoring: Monitoring) -> dict[str, list[dict[str, Any]]]:
    """Return the rules of a cluster as Prometheus reads them, by group; a rule without its series is left out."""
    values = numbers(cluster, monitoring)
    there, series = frozenset(monitors.there(cluster)), recorded_on(cluster)
    found = {}
    for name, group in groups().items():
        rules = [
            rule_object(cluster, rule, values)
            for rule in group.rules
            if applies(cluster, rule, there, series) and rule.alert not in monitoring.alerts.disabled
        ]
        if rules:
            found[name] = rules
    return found


def recorded_on(cluster: Cluster) -> frozenset[str]:
    """Return the series that are recorded on a cluster: those whose own series are there, one after the other."""
    there, found = frozenset(monitors.there(cluster)), set[str]()
    for group in groups().values():
        for rule in group.rules:
            if rule.record and applies(cluster, rule, there, frozenset(found)):
                found.add(rule.record)
    return frozenset(found)


def applies(cluster: Cluster, rule: RuleFact, there: frozenset[str], series: frozenset[str]) -> bool:
    """Whether a cluster has all that a rule reads, and what else it needs."""
    has = {
        "argocd": cluster.monitoring is not None and cluster.monitoring.argocd,
        "burnIn": bool(burn_in.tested_pools(cluster)),
        "fabric": cluster.fabric is not None and fabric_type(cluster).name not in OVER_TCP,
        "mlflow": tracking.has_server(cluster),
        "karpenter": any(map(cluster.is_karpenters, cluster.pools)),
        "virtualClusters": bool(cluster.virtual_clusters),
    }
    return all(has[need] for need in rule.needs) and is_there(rule.expression(), there, series)


def is_there(expression: str, there: frozenset[str], series: frozenset[str]) -> bool:
    """Whether a cluster has every series that an expression reads."""
    used = {word for word in NAME.findall(expression) if word in recorded()}
    return exporters_of(expression) <= there and used <= series


def rule_object(cluster: Cluster, rule: RuleFact, values: Mapping[str, str]) -> dict[str, Any]:
    """Return a rule as Prometheus reads it."""
    expression = fill(rule.expression(), values)
    if rule.record:
        return {"record": rule.record, "expr": expression, **({"labels": dict(rule.set)} if rule.set else {})}
    texts = {"summary": rule.summary or "", "description": rule.description or ""}
    labels: dict[str, str] = {"severity": rule.severity or "warning"}
    if rule.team:
        labels["team"] = team_of(cluster, rule.team)
    hold = fill(rule.hold or "0m", values)
    return {
        "alert": rule.alert,
        "expr": expression,
        **({"for": hold} if hold != "0m" else {}),
        "labels": labels,
        "annotations": {key: fill(text, values) for key, text in texts.items()},
    }


def team_of(cluster: Cluster, label: str) -> str:
    """Return the team in a label of series, as templates of alerts read it; of a namespace, whose it is."""
    plain = f"{{{{ $labels.{label} }}}}"
    spaces = cluster.other_namespaces.items() if label == "namespace" else ()
    cases = [f'if eq $labels.{label} "{space}" }}}}{team}{{{{ else ' for team, space in sorted(spaces)]
    return "{{ " + "".join(cases)[:-1] + f" }}}}{plain}{{{{ end }}}}" if cases else plain


def numbers(cluster: Cluster, monitoring: Monitoring) -> dict[str, str]:
    """Return the numbers and names of a cluster, by their place in expressions and texts."""
    alerts = monitoring.alerts
    plain = {
        "notAdmittedMinutes": alerts.not_admitted_minutes,
        "notReadyMinutes": alerts.not_ready_minutes,
        "idleMinutes": alerts.idle_minutes,
        "stragglerMinutes": alerts.straggler_minutes,
        "checkpointHours": alerts.checkpoint_hours,
        "checkpointSeconds": alerts.checkpoint_hours * 3600,
        "socketBytes": alerts.socket_megabytes * 10**6,
        "lentDays": alerts.lent_days,
        "certificateSeconds": alerts.certificate_days * 86400,
        "outOfSyncMinutes": alerts.out_of_sync_minutes,
        "linkErrorsPerHour": alerts.link_errors_per_hour,
        "pcieReplaysPerHour": alerts.pcie_replays_per_hour,
    }
    services = sorted(name for name, found in monitors.there(cluster).items() if found.scrape and found.scrape.service)
    jobs = [name for name, exporter in monitors.there(cluster).items() if exporter.scrape is not None]
    return {
        **{name: str(number) for name, number in plain.items()},
        "idleRatio": f"{alerts.idle_percent / 100:g}",
        "stragglerRatio": f"{alerts.straggler_percent / 100:g}",
        "stragglerPercent": f"{alerts.straggler_percent:g}",
        "namespaces": "|".join(cluster.namespaces()),
        "virtualPods": "|".join(f"{name}-0" for name in cluster.virtual_clusters),
        "checkpointClaims": "|".join(monitoring.checkpoint_claims),
        "absentServices": " or ".join(f'absent(up{{job="{name}"}})' for name in services) or "absent(up)",
        "jobs": "|".join(sorted(jobs)),
    }
