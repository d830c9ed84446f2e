"""Values of the GPU Operator's chart reach the ClusterPolicy as the chart's own template writes them."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from everything import everything
from trainyard.base.documents import dump, load
from trainyard.base.manifests import expand
from trainyard.render.operators.gpu_operator import policy
from trainyard.render.operators.gpu_values import cluster_policy
from trainyard.render.operators.install import installed_operators
from trainyard.upstream.apiserver import Judge, catalog

VALUES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a section of the same name": ({"ccManager": {"enabled": True}}, {"ccManager": {"enabled": True}}),
    "OpenShift's driver toolkit": (
        {"operator": {"use_ocp_driver_toolkit": True}},
        {"operator": {"use_ocp_driver_toolkit": True}},
    ),
    "settings of the operator's own pod": ({"operator": {"resources": {"limits": {"cpu": "1"}}}}, {}),
    "Pod Security": ({"psa": {"enabled": True}}, {"psa": {"enabled": True}}),
    "a driver for each pool": (
        {"driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}},
        {"driver": {"useNvidiaDriverCRD": True}},
    ),
    "pods that an upgrade of the driver deletes": (
        {"driver": {"upgradePolicy": {"autoUpgrade": True, "gpuPodDeletion": {"force": True}}}},
        {"driver": {"upgradePolicy": {"autoUpgrade": True, "podDeletion": {"force": True}}}},
    ),
    "a ConfigMap that the chart makes": (
        {"devicePlugin": {"config": {"create": True, "name": "shares", "data": {"any": "version: v1"}}}},
        {"devicePlugin": {"config": {"name": "shares"}}},
    ),
    "a count that is text there": (
        {"daemonsets": {"rollingUpdate": {"maxUnavailable": 2}}},
        {"daemonsets": {"rollingUpdate": {"maxUnavailable": "2"}}},
    ),
    "values of the chart alone": ({"nfd": {"enabled": False}, "extraObjects": []}, {}),
    "a value of a wrong type": ({"driver": None, "operator": 3}, {"driver": None, "operator": 3}),
}


@pytest.mark.parametrize(("values", "fields"), VALUES.values(), ids=VALUES)
def test_a_value_is_a_field_of_the_cluster_policy(values, fields):
    """What the template writes is written, under the name that it has there; the rest is the chart's."""
    assert cluster_policy(values) == fields


def test_a_section_that_is_switched_on_has_an_image():
    """The operator finds no image of its own for it."""
    operators = {"gpu-operator": {"version": "26.7.0", "values": {"gdrcopy": {"enabled": True}}}}
    (pair,) = installed_operators(everything(operators=operators))
    spec = policy(pair[0])
    image = {"repository": "nvcr.io/nvidia/cloud-native", "image": "gdrdrv", "version": "v2.6"}
    assert spec["gdrcopy"].items() >= {"enabled": True, **image}.items()
    assert "version" not in spec["dcgm"]


def of(values):
    """Return the spec of the ClusterPolicy for a cluster's values."""
    ((site, _),) = installed_operators(everything(operators={"gpu-operator": {"version": "26.7.0", "values": values}}))
    return policy(site)


def test_a_driver_that_upgrades_itself_deletes_the_pods_of_gpus():
    """Without how to delete them the operator would stop at the first node, cordoned."""
    upgrade = of({"driver": {"upgradePolicy": {"autoUpgrade": True}}})["driver"]["upgradePolicy"]
    assert upgrade["autoUpgrade"] is True
    assert upgrade["podDeletion"]["timeoutSeconds"] == 300
    assert of({})["driver"]["upgradePolicy"] == {"autoUpgrade": False}


def test_sandboxes_bring_what_they_need():
    """Daemons for virtual machines are on, each with its images, as the chart has them."""
    spec = of({"sandboxWorkloads": {"enabled": True}})
    assert spec["vfioManager"]["enabled"] is True
    assert spec["vfioManager"]["driverManager"]["image"] == "k8s-driver-manager"
    assert spec["ccManager"]["defaultMode"] == "on"
    assert "enabled" not in spec["vgpuManager"]
    assert "vfioManager" not in of({})


def test_an_empty_default_layout_leaves_nodes_alone():
    """It is the one empty text that the operator tells from a missing one."""
    assert of({"migManager": {"config": {"default": ""}}})["migManager"]["config"] == {"default": ""}
    assert "priorityClassName" not in of({"daemonsets": {"priorityClassName": ""}})["daemonsets"]


@pytest.mark.parametrize("name", [name for name in VALUES if "wrong" not in name])
def test_the_api_server_takes_the_result(name):
    """Fields that the operator's types do not know would be refused."""
    operators = {"gpu-operator": {"version": "26.7.0", "values": VALUES[name][0]}}
    (pair,) = installed_operators(everything(operators=operators))
    (made,) = (item for item in pair[1].hardware(pair[0]) if item.kind == "ClusterPolicy")
    manifests, _ = expand(load(dump(made.value()).encode(), file="x.yaml")[0])
    judge = Judge(catalog.load(ROOT / "schemas", kubernetes="1.35", projects={"gpu-operator": "26.7.0"})[0])
    judged = judge.judge(manifests[0])
    assert (judged.verdict, [finding.message for finding in judged.findings]) == ("valid", [])
