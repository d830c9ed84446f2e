"""AMD's driver by its operator: only where the file asks for it, with all that the operator needs."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from everything import EVERYTHING, OPERATORS, everything, source
from trainyard.base.documents import dump, load
from trainyard.base.manifests import expand
from trainyard.judge.preflight.cluster.amd_driver import check
from trainyard.render.operators.install import installed_operators
from trainyard.specs import Cluster
from trainyard.upstream.apiserver import Judge, catalog

NAME = "amd-gpu-operator"
POOLS = EVERYTHING["pools"]
ASKED = {"gpuDriver": "operator", "gpuDriverVersion": "30.20.1"}
NVIDIA = {"gpuDriver": "operator", "gpuDriverVersion": "595.91"}
IMAGE = {"deviceConfig": {"spec": {"driver": {"image": "registry.example.com/mirror/amdgpu"}}}}
WITH_IMAGE = {**OPERATORS, NAME: {**OPERATORS[NAME], "values": IMAGE}}
BOOT = {"enable": True, "blacklist": True, "version": "30.20.1", "upgradePolicy": {"enable": False}}


def pools(**system: str) -> dict[str, Any]:
    """Return the pools with what the AMD pool says of its system."""
    return {**POOLS, "mi300x": {**POOLS["mi300x"], "system": system}}


def driver(cluster: Cluster) -> dict[str, Any]:
    """Return the driver's section of the AMD pool's DeviceConfig."""
    ((site, operator),) = (pair for pair in installed_operators(cluster) if pair[0].name == NAME)
    (config,) = operator.hardware(site)
    section: dict[str, Any] = config.fields["spec"]["driver"]
    return section


ALONE = {"pools": {"mi300x": POOLS["mi300x"]}, "fabric": None, "queues": {}}

DRIVERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing is said": ({}, {"enable": False}),
    "the pool's image has one": ({"pools": pools(gpuDriver="system")}, {"enable": False}),
    "the pool asks for one": ({"pools": pools(**ASKED)}, BOOT),
    "the cluster speaks of NVIDIA's": (
        {"system": {"gpuDriver": "operator", "gpuDriverVersion": "595.91"}},
        {"enable": False},
    ),
    "the cluster has AMD's GPUs alone": ({**ALONE, "system": ASKED}, BOOT),
}


@pytest.mark.parametrize(("changes", "expected"), DRIVERS.values(), ids=DRIVERS)
def test_the_driver_is_installed_where_the_file_asks(changes, expected):
    """Nodes that have a driver keep it: two would not load beside each other."""
    assert driver(everything(**changes)) == expected


def test_values_name_the_registry():
    """They are merged over what follows, and the object is one that the operator's types allow."""
    cluster = everything(pools=pools(**ASKED), operators=WITH_IMAGE)
    assert driver(cluster) == {**BOOT, "image": "registry.example.com/mirror/amdgpu"}
    ((site, operator),) = (pair for pair in installed_operators(cluster) if pair[0].name == NAME)
    judge = Judge(catalog.load(ROOT / "schemas", kubernetes="1.35", projects={NAME: site.version})[0])
    text = "---\n".join(dump(item.value()) for item in operator.hardware(site))
    for manifest in expand(load(text.encode(), file="x.yaml")[0])[0]:
        judged = judge.judge(manifest)
        assert (judged.verdict, [finding.message for finding in judged.findings]) == ("valid", [])


WITHOUT = {name: choice for name, choice in OPERATORS.items() if name != NAME}
WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "the operator is not there": (
        {"pools": pools(**ASKED), "operators": WITHOUT},
        "pools.mi300x.system.gpuDriver",
        "gpuDriver 'operator' of pool 'mi300x' needs amd-gpu-operator; add it to operators",
    ),
    "nodes of Talos load what their image has": (
        {"pools": pools(**ASKED, distribution="talos"), "operators": WITH_IMAGE},
        "pools.mi300x.system.gpuDriver",
        "gpuDriver is 'operator', but on Talos only the node's image brings amdgpu; remove it",
    ),
    "no release": (
        {"pools": pools(gpuDriver="operator"), "operators": WITH_IMAGE},
        "pools.mi300x.system.gpuDriver",
        "gpuDriver 'operator' of pool 'mi300x' needs a release; set gpuDriverVersion, such as '30.20.1'",
    ),
    "no registry": (
        {"pools": pools(**ASKED)},
        "operators.amd-gpu-operator",
        (
            "amd-gpu-operator pushes drivers to a registry, but names none; "
            "set values.deviceConfig.spec.driver.image, without a tag"
        ),
    ),
}


@pytest.mark.parametrize(("changes", "path", "message"), WRONG.values(), ids=WRONG)
def test_what_the_operator_lacks_is_found(changes, path, message):
    """One finding each, at a line of the cluster's file."""
    (found,) = check(everything(**changes), source(**changes))
    assert (str(found.severity), str(found.rule), found.path, found.message) == (
        "error",
        "gpu-driver-amd",
        path,
        message,
    )
    assert len(message.split()) <= 20
    assert found.location.line is not None


RIGHT: dict[str, dict[str, Any]] = {
    "the node's own driver": {},
    "NVIDIA's driver by its operator": {"system": {"gpuDriver": "operator"}},
    "the operator of OpenShift's catalogue": {
        "pools": pools(**ASKED),
        "system": {"distribution": "openshift"},
        "operators": {**OPERATORS, NAME: {**OPERATORS[NAME], "managed": False}},
    },
    "all is there": {"pools": pools(**ASKED), "operators": WITH_IMAGE},
}


@pytest.mark.parametrize("changes", RIGHT.values(), ids=RIGHT)
def test_a_driver_that_can_be_installed_is_no_finding(changes):
    """And neither is one that nodes bring."""
    assert list(check(everything(**changes), source(**changes))) == []
