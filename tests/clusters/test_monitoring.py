"""Monitors, rules and rights of a cluster that is watched: what there is, where, and for which Prometheus."""

from __future__ import annotations

import re
from typing import Any

import pytest

from make import CLUSTER, CPU_NODE, fields, make_cluster, make_source, write_repository
from monitoring.rules import OPERATORS, everything
from trainyard.judge import preflight
from trainyard.judge.preflight.cluster.monitoring import check
from trainyard.render.clusters import alerts, monitors, nets
from trainyard.render.operators import operators
from trainyard.render.operators.base import Site
from trainyard.render.operators.install import sites

STACK = {"kube-prometheus-stack": {"version": "88.5.3"}}
THEIRS = {"namespace": "watch", "labels": {"prometheus": "site"}, "serviceAccount": "prometheus-k8s"}


def made(cluster):
    """Return the objects of the folder by kind and name."""
    found = (*monitors.resources(cluster), *alerts.resources(cluster))
    return {f"{one.kind}/{one.name}": one.value() for one in found}


def named(cluster):
    """Return the names of the cluster's alerts."""
    groups = alerts.of_cluster(cluster, cluster.monitoring)
    return {rule["alert"] for rules in groups.values() for rule in rules if "alert" in rule}


def test_nothing_without_monitoring():
    """A cluster without the field has no monitor and no rule."""
    assert not made(make_cluster())


def test_every_exporter_has_a_monitor():
    """Each exporter that no chart reads has one, in the namespace of its operator, with the chart's label."""
    found = made(everything())
    kueue = found["ServiceMonitor/trainyard-kueue"]
    assert kueue["metadata"]["labels"] == {"release": "kube-prometheus-stack"}
    assert kueue["spec"]["namespaceSelector"] == {"matchNames": ["kueue-system"]}
    assert kueue["spec"]["endpoints"][0]["scheme"] == "https"
    assert found["PodMonitor/trainyard-ray"]["spec"]["namespaceSelector"] == {"matchNames": ["nlp"]}
    assert "scheme" not in found["PodMonitor/trainyard-dcgm-exporter"]["spec"]["podMetricsEndpoints"][0]
    assert len([key for key in found if "Monitor/" in key]) == len(OPERATORS) + 2


ADDRESSES = {"10.0.0.7": "10.0.0.7:44217", "fd00::7": "[fd00::7]:44217"}


@pytest.mark.parametrize(("pod", "address"), ADDRESSES.items())
def test_the_autoscaler_of_ray_is_the_only_target(pod, address):
    """Its container declares no port, so its address gets one; other containers of the head are not read again."""
    (endpoint,) = made(everything())["PodMonitor/trainyard-ray-autoscaler"]["spec"]["podMetricsEndpoints"]
    assert "port" not in endpoint
    for container, expected in {"autoscaler": address, "ray-head": None, "my-autoscaler": None}.items():
        target = {"__meta_kubernetes_pod_container_name": container, "__meta_kubernetes_pod_ip": pod}
        assert relabeled({**target, "__address__": pod}, endpoint["relabelings"]).get("__address__") == expected


def relabeled(target, rules):
    """Return a target after Prometheus' relabelings, or nothing (prometheus v3.14.0 model/relabel/relabel.go)."""
    for rule in rules:
        value = ";".join(target.get(label, "") for label in rule.get("sourceLabels", ()))
        found = re.fullmatch(rule.get("regex", "(.*)"), value)
        if found is None and rule.get("action") == "keep":
            return {}
        if found is not None and "targetLabel" in rule:
            text = re.sub(r"\$(\d)", r"\\\1", rule.get("replacement", "$1"))
            target = {**target, rule["targetLabel"]: found.expand(text)}
    return target


def test_an_existing_prometheus_selects_ours():
    """Objects stand in its namespace with its labels, and its account may read metrics."""
    found = made(make_cluster(operators={"kueue": {"version": "0.19.2"}}, monitoring={"existing": THEIRS}))
    monitor = found["ServiceMonitor/trainyard-kueue"]
    assert (monitor["metadata"]["namespace"], monitor["metadata"]["labels"]) == ("watch", {"prometheus": "site"})
    binding = found["ClusterRoleBinding/trainyard-metrics-reader"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "prometheus-k8s", "namespace": "watch"}]


def test_operators_of_others_may_be_anywhere():
    """Where somebody else installs an operator, its namespace is not known."""
    operators = {"kueue": {"version": "0.19.2", "managed": False}}
    found = made(make_cluster(operators=operators, monitoring={"existing": THEIRS}))
    assert found["ServiceMonitor/trainyard-kueue"]["spec"]["namespaceSelector"] == {"any": True}


def test_rules_are_those_whose_series_there_are():
    """A cluster has no alert that could never fire."""
    few = named(make_cluster(operators=STACK, monitoring={}))
    assert "NodeNotReady" in few
    assert not {"RunNotAdmitted", "GpuXidError", "AmdGpuUnhealthy", "CertificateExpires", "ApplicationUnknown"} & few
    assert {"RunNotAdmitted", "GpuXidError", "AmdGpuUnhealthy", "ApplicationUnknown"} <= named(everything())


def test_numbers_and_names_are_those_of_the_file():
    """Thresholds stand in expressions, and alerts that are left out are gone."""
    cluster = everything(alerts={"notAdmittedMinutes": 7, "disabled": ["RunIdle"]})
    rules = alerts.of_cluster(cluster, cluster.monitoring)["runs"]
    waiting = next(rule for rule in rules if rule.get("alert") == "RunNotAdmitted")
    assert waiting["for"] == "7m"
    assert 'namespace=~"nlp"' in waiting["expr"]
    assert "RunIdle" not in named(cluster)


def test_prometheus_passes_the_policies_of_teams():
    """A policy opens the metrics of Ray to Prometheus alone; without monitoring there is none."""
    ports = {"metrics-of-ray": 8080, "metrics-of-ray-autoscaler": 44217}
    opened = {name: spec["ingress"] for name, spec in nets.allow_prometheus(everything())}
    assert {name: rule["ports"][0]["port"] for name, (rule,) in opened.items()} == ports
    assert not list(nets.allow_prometheus(make_cluster(operators={"kuberay": {"version": "1.6.2"}})))


TAINTED = {"cpu": {"shape": CPU_NODE, "nodes": 4, "taints": [{"key": "a.b/c"}]}}

WRONG = {
    "nobody installs it": ({"monitoring": {}}, "no Prometheus reads the monitors"),
    "two would": ({"operators": STACK, "monitoring": {"existing": THEIRS}}, "remove one"),
    "no such pool": ({"operators": STACK, "monitoring": {"pool": "cpo"}}, "pool 'cpo' does not exist"),
    "no such class": ({"operators": STACK, "monitoring": {"storageClass": "disk"}}, "storage class 'disk'"),
    "a pool of GPUs": ({"operators": STACK, "monitoring": {"pool": "gpu"}}, "pool 'gpu' has GPUs"),
    "a pool with a taint": (
        {"operators": STACK, "monitoring": {"pool": "cpu"}, "pools": TAINTED},
        "do not tolerate taint 'a.b/c'",
    ),
    "no such alert": ({"operators": STACK, "monitoring": {"alerts": {"disabled": ["RunIdel"]}}}, "'RunIdel'"),
}


@pytest.mark.parametrize(("said", "message"), WRONG.values(), ids=WRONG)
def test_mistakes_are_found(said, message):
    """Each mistake is one finding that names the value."""
    (found,) = check(make_cluster(**said), make_source("platform/clusters/test.yaml", said))
    assert message in found.message


PLACED = {"operators": STACK, "monitoring": {"pool": "gpu"}, "pools": {"gpu": {"shape": "dgx-h100", "nodes": 4}}}
"""A cluster of GPUs alone has no other place for Prometheus."""

RIGHT: list[dict[str, Any]] = [
    {},
    {"operators": STACK, "monitoring": {}},
    {"monitoring": {"existing": THEIRS}},
    PLACED,
]


@pytest.mark.parametrize("said", RIGHT)
def test_what_is_right_is_silent(said):
    """Either way to a Prometheus is right, and none is, too."""
    assert not list(check(make_cluster(**said), make_source("platform/clusters/test.yaml", said)))


CONFLICTS = {
    "no state of objects": {"kubeStateMetrics": {"enabled": False}},
    "labels without the run": {"kube-state-metrics": {"metricLabelsAllowlist": ["pods=[app]"]}},
    "other states": {"kube-state-metrics": {"customResourceState": {"config": {"spec": {"resources": []}}}}},
}


@pytest.mark.parametrize("values", CONFLICTS.values(), ids=CONFLICTS)
def test_values_that_take_series_away(values):
    """Values that leave alerts without series are conflicts; others are not."""
    known = operators()["kube-prometheus-stack"]
    stack = {"version": "88.5.3", "values": values}
    assert len(list(known.conflicts(site_of(stack)))) == 1
    assert not list(known.conflicts(site_of(stack | {"values": {}})))


def site_of(stack: dict[str, Any]) -> Site:
    """Return the place of this stack in a cluster that also has Kueue, whose workloads have states to tell."""
    cluster = make_cluster(operators={"kube-prometheus-stack": stack, "kueue": {"version": "0.19.2"}})
    return next(site for site in sites(cluster) if site.name == "kube-prometheus-stack")


@pytest.mark.parametrize(("claims", "found"), [(["checkpoint"], 1), (["checkpoints"], 0), (None, 0)])
def test_claims_of_checkpoints_are_volumes_of_teams(tmp_path, claims, found):
    """A name that no team has is told; the default needs no team that has it."""
    said = {"existing": THEIRS, **({"checkpointClaims": claims} if claims else {})}
    write_repository(tmp_path, jobs={}, clusters={"test": fields(CLUSTER, {"monitoring": said})})
    said_of = [item.path for item in preflight.check_repository(tmp_path).findings if item.rule == "mon-claims"]
    assert said_of == ["monitoring.checkpointClaims[0]"] * found
