"""Feature gates that a cluster's file sets for operators are read, wherever their charts take them."""

from __future__ import annotations

import pytest

from conftest import ROOT
from make import CLUSTER, make_cluster, make_source
from trainyard.base.documents import load
from trainyard.judge.preflight.cluster.values import check_gates
from trainyard.specs.releases import releases
from trainyard.specs.releases.gates import cluster_gates, said_gates
from trainyard.upstream.apiserver.gates import KNOWN, ON

NETWORK = {"featureGates": [{"name": "RayClusterNetworkPolicy", "enabled": True}, {"name": "RayCronJob"}]}
CONFIG = {"managerConfig": {"controllerManagerConfigYaml": "featureGates: {AdmissionGatedBy: false}\n"}}
LISTED = {"controllerManager": {"featureGates": [{"name": "TASMultiLayerTopology", "enabled": False}]}}
NONE = {"controllerManager": {"featureGates": []}}
FEW = {"custom": {"enabled_admissions": "/jobs/mutate,/queues/mutate,/queues/validate,/cronjobs/validate"}}
OFF = {"/jobs/validate": False, "/podgroups/validate": False, "/hypernodes/validate": False}
EVERY = ("/jobs/mutate", "/jobs/validate", "/podgroups/validate", "/queues/mutate", "/queues/validate")

CASES = {
    "a list": ("kuberay", {"values": NETWORK}, {"RayClusterNetworkPolicy": True, "RayCronJob": False}),
    "nothing said": ("kuberay", {}, {}),
    "a list of another form, which the chart's checks tell": ("kuberay", {"values": {"featureGates": "A"}}, {}),
    "a map": (
        "trainer",
        {"values": {"manager": {"config": {"featureGates": {"TrainJobStatus": True}}}}},
        {"TrainJobStatus": True},
    ),
    "a configuration": ("kueue", {"values": CONFIG}, {"AdmissionGatedBy": False}),
    "flags beside a configuration, which count alone": (
        *("kueue", {"values": {**CONFIG, **LISTED}}, {"TASMultiLayerTopology": False}),
    ),
    "no flags beside a configuration": ("kueue", {"values": {**CONFIG, **NONE}}, {"AdmissionGatedBy": False}),
    "text": (
        "volcano",
        {"values": {"custom": {"admission_feature_gates": "A=true, B=false"}}},
        {"A": True, "B": False},
    ),
    "some webhooks": ("volcano", {"values": FEW}, OFF),
    "no webhooks": (
        "volcano",
        {"values": {"custom": {"admission_enable": False}}},
        dict.fromkeys((*EVERY, "/hypernodes/validate", "/cronjobs/validate"), False),
    ),
    "a webhook that the chart leaves out by default": ("lws", {}, {"disaggregatedset": False}),
    "a webhook that somebody wants": ("lws", {"values": {"enableDisaggregatedSet": True}}, {}),
    "what others install": ("jobset", {"managed": False, "gates": {"RestartJob": True}}, {"RestartJob": True}),
    "values of what others install": ("kuberay", {"managed": False, "values": NETWORK}, {}),
}


@pytest.mark.parametrize(("name", "choice", "expected"), CASES.values(), ids=CASES)
def test_gates_are_read(name, choice, expected):
    """Those of the chart's values; with managed: false those that are named."""
    assert said_gates((), {name: choice}).states == expected


def test_gates_of_kubernetes_stand_beside_them():
    """Both come from the cluster's file."""
    operators = {**CLUSTER["operators"], "kuberay": {"version": "1.7.0", "values": NETWORK}}
    gates = cluster_gates(make_cluster(kubernetes="1.37", featureGates=["GenericWorkload"], operators=operators))
    assert {"GenericWorkload", "RayClusterNetworkPolicy"} <= gates.on


def test_the_chart_of_kuberay_has_the_defaults_of_its_program():
    """A list of one's own replaces the chart's; what it leaves out is as in the program, and so as in the chart."""
    for release in releases()["kuberay"].releases:
        file = ROOT / f"schemas/charts/kuberay-operator/{release}.yaml"
        documents, _ = load(file.read_bytes(), file=file.name)
        said = {gate["name"]: gate["enabled"] for gate in documents[0].value["featureGates"]}
        since = {"RayServiceIncrementalUpgrade": release != "1.6.2"}
        assert {name: since.get(name, name in ON) for name in said.keys() & KNOWN.keys()} == {
            name: state for name, state in said.items() if name in KNOWN
        }


FINDINGS = {
    "an operator that is installed from here": (
        ("kuberay", {"version": "1.7.0", "gates": {"RayCronJob": True}}),
        ["gates has no effect, as Trainyard installs kuberay; set values.featureGates"],
    ),
    "one whose chart sets no gates": (
        ("jobset", {"version": "0.12.0", "gates": {"RestartJob": True}}),
        ["gates has no effect, as Trainyard installs jobset; remove it: its chart sets no gates"],
    ),
    "a wrong name": (
        ("jobset", {"version": "0.12.0", "managed": False, "gates": {"RestartJobs": True}}),
        ["gate 'RestartJobs' of jobset changes no check; did you mean 'RestartJob'?"],
    ),
    "a right name": (("jobset", {"version": "0.12.0", "managed": False, "gates": {"RestartJob": True}}), []),
}


@pytest.mark.parametrize(("operator", "expected"), FINDINGS.values(), ids=FINDINGS)
def test_gates_without_effect_are_told(operator, expected):
    """Where Trainyard installs the operator its chart's values count; elsewhere the name must be one that we know."""
    changes = {"operators": {**CLUSTER["operators"], operator[0]: operator[1]}}
    found = check_gates(make_cluster(**changes), make_source("platform/clusters/test.yaml", {**CLUSTER, **changes}))
    assert [finding.message for finding in found] == expected
