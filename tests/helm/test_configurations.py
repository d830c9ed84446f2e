"""AMD's DeviceConfig and the configuration of SR-IOV say what the templates of their charts say of values.

What a cluster's file names must be as the chart has it; the rest of these objects follows from the cluster. Recorded as
the ClusterPolicies are.
"""

from __future__ import annotations

import pytest

from conftest import ROOT
from everything import everything
from helm.drawn import Fields, draw, lookup, read
from helm.renders import ask, leaves, record, recorded
from trainyard.render.operators.base import merge
from trainyard.render.operators.install import installed_operators
from trainyard.upstream.apiserver import catalog
from trainyard.upstream.apiserver.schema import defaults

RECORDED = "configurations.jsonl.gz"
SEEDS = range(40)
SECRETS = ([{"name": "pull"}], [{"name": "a"}, {"name": "b"}])
SECRET = ({"name": "some"}, {})
DEVICES = {
    "deviceConfig.spec.commonConfig.imageRegistrySecrets": SECRETS,
    "deviceConfig.spec.commonConfig.utilsContainer.imageRegistrySecret": SECRET,
    "deviceConfig.spec.devicePlugin.imageRegistrySecret": SECRET,
    "deviceConfig.spec.driver.imageRegistrySecret": SECRET,
    "deviceConfig.spec.driver.upgradePolicy.enable": (True, False),
    "deviceConfig.spec.driver.version": ("30.30", "7.0"),
    "deviceConfig.spec.metricsExporter.config": SECRET,
    "deviceConfig.spec.metricsExporter.serviceType": ("ClusterIP", "NodePort"),
    "global.imagePullSecrets": SECRETS,
}
FUNCTIONS = {
    "sriovOperatorConfig.configDaemonNodeSelector": ({"zone": "a"}, {"zone": "a", "rack": "b"}),
    "sriovOperatorConfig.configurationMode": ("daemon", "systemd"),
    "sriovOperatorConfig.disableDrain": (True, False),
    "sriovOperatorConfig.featureGates": ({"parallelNicConfig": True}, {"parallelNicConfig": False}),
    "sriovOperatorConfig.logLevel": (0, 1, 2),
    "operator.admissionControllers.enabled": (True, False),
}
BEGUN = {
    "DeviceConfig": ("driver.upgradePolicy", "metricsExporter.prometheus.serviceMonitor"),
    "SriovOperatorConfig": (),
}
"""Sections that are compared whole where values have a part of them."""

OPERATORS = {
    "DeviceConfig": ("amd-gpu-operator", "1.5.1", "gpu-operator-charts", {"crds": {"defaultCR": {"install": True}}}),
    "SriovOperatorConfig": (
        *("sriov-network-operator", "1.6.0", "sriov-network-operator-chart"),
        {"sriovOperatorConfig": {"deploy": True}},
    ),
}


def shipped(kind):
    """Return the defaults of a chart."""
    _, version, chart, _ = OPERATORS[kind]
    return read((ROOT / f"schemas/charts/{chart}/{version}.yaml").read_bytes())


FIELDS = {
    "DeviceConfig": Fields(
        shipped("DeviceConfig"), ["deviceConfig.spec"], DEVICES, never=frozenset({"deviceConfig.spec.selector"})
    ),
    "SriovOperatorConfig": Fields({}, [], FUNCTIONS),
}


def cases():
    """Return cases of both, and where in their values the drawn ones are."""
    found = []
    for kind, (name, version, chart, switch) in OPERATORS.items():
        place = {"chart": f"{chart}/{version}", "release": name, "namespace": "there", "kubeVersion": "1.35.0"}
        for seed in SEEDS:
            values = merge(draw(seed, FIELDS[kind]), switch)
            found.append({"name": f"{kind} {seed}", **place, "values": values, "kinds": [kind]})
    return found


def ours(kind, values):
    """Return the spec of our object for a cluster that has one of everything."""
    name, version, *_ = OPERATORS[kind]
    operators = {name: {"version": version, "values": values}, "cert-manager": {"version": "1.21.1"}}
    cluster = everything(operators=operators)
    ((site, operator),) = [pair for pair in installed_operators(cluster) if pair[0].name == name]
    made = [thing for thing in [*operator.own(site), *operator.hardware(site)] if thing.kind == kind]
    return made[0].fields["spec"]


def served(kind, spec):
    """Return the fields of a spec with the defaults of its definition."""
    project, version, *_ = OPERATORS[kind]
    known = catalog.load(ROOT / "schemas", kubernetes="1.35", projects={project: version})[0]
    group, api = {"DeviceConfig": ("amd.com", "v1alpha1")}.get(kind, ("sriovnetwork.openshift.io", "v1"))
    return leaves(defaults.apply({"spec": spec}, known.lookup(group, api, kind))["spec"])


def wrong(pairs):
    """Return fields that values have, or that complete a section of them, and that are not as the chart has them."""
    found = {}
    for case, answer in pairs:
        kind, values = case["kinds"][0], case["values"]
        wanted, made = (served(kind, spec) for spec in (answer["objects"][0]["spec"], ours(kind, values)))
        inside = lookup(values, "deviceConfig.spec") or {}
        given = {*leaves(inside), ("commonConfig", "imageRegistrySecrets")} if kind == "DeviceConfig" else {*wanted}
        begun = [tuple(path.split(".")) for path in BEGUN[kind] if lookup(inside, path)]
        paths = {path for path in {*wanted, *made} if path in given or any(path[: len(p)] == p for p in begun)}
        differ = [path for path in paths if wanted.get(path, False) != made.get(path, False) and path not in OURS]
        found |= {case["name"]: sorted(differ)} if differ else {}
    return found


OURS = {("configDaemonNodeSelector", "kubernetes.io/os")}
"""Nodes of the fabric, which selectors of values narrow."""


def test_templates_say_the_same():
    """What values name is as the chart writes it."""
    pairs = recorded(RECORDED)
    assert len(pairs) >= 60
    assert [case["name"] for case, answer in pairs if answer.get("error")] == []
    assert wrong(pairs) == {}


def test_the_network_operator_takes_values_of_the_chart_inside():
    """Where it brings the SR-IOV operator, that one's configuration is in its values."""
    values = {"sriov-network-operator": {"sriovOperatorConfig": {"logLevel": 0, "disableDrain": True}}}
    cluster = everything(operators={"network-operator": {"version": "26.4.1", "values": values}})
    ((site, operator),) = [pair for pair in installed_operators(cluster) if pair[0].name == "network-operator"]
    (made,) = [thing for thing in operator.own(site) if thing.kind == "SriovOperatorConfig"]
    assert made.fields["spec"].items() >= {"logLevel": 0, "disableDrain": True, "enableInjector": False}.items()


@pytest.mark.slow
def test_helm_says_so_again(request):
    """Asked again, Helm's own code makes the same objects."""
    asked = cases()
    pairs = [*zip(asked, ask(asked), strict=True)]
    assert wrong(pairs) == {}
    if request.config.getoption("--update"):
        record(RECORDED, pairs)
