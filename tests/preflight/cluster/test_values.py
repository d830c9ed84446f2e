"""Values that a chart does not read, or reads as another type, are named with the near miss."""

from __future__ import annotations

from typing import Any

import pytest

from everything import OPERATORS, everything, source
from trainyard.judge.preflight.cluster.values import check

WRONG: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "a misspelt key": (
        "kueue",
        {"controllerManager": {"replica": 2}},
        "values/unknown operators.kueue.values.controllerManager.replica",
        "the chart of kueue does not read value 'controllerManager.replica'; did you mean 'replicas'?",
    ),
    "a misspelt section": (
        "gpu-operator",
        {"drivers": {"enabled": False}},
        "values/unknown operators.gpu-operator.values.drivers",
        "the chart of gpu-operator does not read value 'drivers'; did you mean 'driver'?",
    ),
    "a number for a text": (
        "gpu-operator",
        {"driver": {"version": 580}},
        "values/type operators.gpu-operator.values.driver.version",
        "value 'driver.version' of gpu-operator must be text, not a number",
    ),
    "a text for a switch": (
        "cert-manager",
        {"crds": {"keep": "yes"}},
        "values/type operators.cert-manager.values.crds.keep",
        "value 'crds.keep' of cert-manager must be true or false, not text",
    ),
    "a map for a list": (
        "sriov-network-operator",
        {"operator": {"tolerations": {"key": "x"}}},
        "values/type operators.sriov-network-operator.values.operator.tolerations",
        "value 'operator.tolerations' of sriov-network-operator must be a list, not a map",
    ),
    "a misspelt key of a chart inside": (
        "gpu-operator",
        {"node-feature-discovery": {"worker": {"toleration": []}}},
        "values/unknown operators.gpu-operator.values.node-feature-discovery.worker.toleration",
        (
            "the chart of gpu-operator does not read value 'node-feature-discovery.worker.toleration'; did you mean "
            "'tolerations'?"
        ),
    ),
    "a key that the chart's own schema does not have": (
        "cert-manager",
        {"webhook": {"replicas": 2}},
        "values/unknown operators.cert-manager.values.webhook.replicas",
        "the chart of cert-manager does not read value 'webhook.replicas'; did you mean 'replicaCount'?",
    ),
    "several types, as the chart's own schema says": (
        "cert-manager",
        {"namespace": 5},
        "values/type operators.cert-manager.values.namespace",
        "value 'namespace' of cert-manager must be text, not a number",
    ),
    "values without a chart": (
        "multus",
        {"image": "other"},
        "values/no-chart operators.multus.values",
        "multus has no chart, so its values have no effect; remove them",
    ),
}

RIGHT: dict[str, tuple[str, dict[str, Any]]] = {
    "any key of an open map": ("jobset", {"controller": {"nodeSelector": {"example.com/role": "system"}}}),
    "a number or a text for an amount": ("jobset", {"controller": {"resources": {"limits": {"cpu": "2"}}}}),
    "null, which takes a default away": ("kueue", {"controllerManager": {"manager": {"priorityClassName": None}}}),
    "what the defaults only mention": ("gpu-operator", {"operator": {"metrics": {"serviceMonitor": {}}}}),
    "a key that only the chart's own schema has": ("cert-manager", {"image": {"digest": "sha256:0"}}),
    "values of all charts inside": ("gpu-operator", {"global": {"imagePullSecrets": []}}),
    "values of a chart inside that is known by itself": (
        "amd-gpu-operator",
        {"node-feature-discovery": {"gc": {"enable": True}}},
    ),
}


def found(root: Any, name: str, values: dict[str, Any], **changes: Any) -> list[tuple[str, str]]:
    """Return rule, path and message of everything that is wrong with an operator's values."""
    operators = {**OPERATORS, name: {**OPERATORS[name], "values": values, **changes}}
    cluster, file = everything(operators=operators), source(operators=operators)
    return [(f"{item.rule} {item.path}", item.message) for item in check(cluster, file, root / "schemas")]


@pytest.mark.parametrize(("name", "values", "where", "message"), WRONG.values(), ids=WRONG)
def test_a_value_that_would_do_nothing_is_an_error(root, name, values, where, message):
    """Helm takes any key in silence; a misspelt one leaves the default in force."""
    assert found(root, name, values) == [(where, message)]


@pytest.mark.parametrize(("name", "values"), RIGHT.values(), ids=RIGHT)
def test_a_value_that_the_chart_reads_passes(root, name, values):
    """Open maps, null, and keys that stand in comments alone are fine."""
    assert found(root, name, values) == []


def test_values_of_an_operator_that_somebody_else_installs_do_nothing(root):
    """They are not passed to anybody."""
    assert [rule for rule, _ in found(root, "kueue", {"enablePrometheus": True}, managed=False)] == [
        "values/unused operators.kueue.values"
    ]


def test_a_release_without_known_defaults_is_not_judged(tmp_path):
    """Where no defaults are vendored nothing can be said."""
    assert found(tmp_path, "kueue", {"nonsense": 1}) == []
