"""Core kinds: what differs between the releases of Kubernetes, as their servers said."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver import core_objects as objects
from apiserver.core_objects import altered, judged

RELEASES = ("1.34", "1.35", "1.36")
MAIN = "spec.containers.0"
TOLERATION = {"tolerations": [{"key": "a b", "operator": "Exists"}]}
RULE = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
AUTOSCALER = objects.named(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    spec={"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}},
)

SLICE = objects.named(
    "resource.k8s.io/v1",
    "ResourceSlice",
    spec={
        "driver": "gpu.example.com",
        "nodeName": "n",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0", "capacity": {"memory": {"value": "80Gi"}}}],
    },
)

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = {
    "a device with a node of its own, where the slice does not say so": (
        SLICE,
        {"spec.devices.0.nodeName": "n"},
        ("1.36",),
    ),
    "a slice without a node, as each device has one": (
        SLICE,
        {"spec.nodeName": None, "spec.perDeviceNodeSelection": True, "spec.devices.0.nodeName": "n"},
        ("1.34", "1.35"),
    ),
    "a slice whose devices have no nodes either": (
        SLICE,
        {"spec.nodeName": None, "spec.perDeviceNodeSelection": True},
        RELEASES,
    ),
    "a policy of shares for a device that is not shared": (
        SLICE,
        {"spec.devices.0.capacity.memory.requestPolicy": {}},
        ("1.36",),
    ),
    "conditions of a binding without those of its failure": (
        SLICE,
        {"spec.devices.0.bindingConditions": ["ready"]},
        ("1.36",),
    ),
    "counters beside devices": (SLICE, {"spec.sharedCounters": []}, ("1.36",)),
    "an image as a volume without a reference, where such volumes are not dropped": (
        objects.POD,
        {"spec.volumes.1": {"name": "model", "image": {}}},
        ("1.35", "1.36"),
    ),
    "a restart policy of a container that is none, where it is not dropped": (
        objects.POD,
        {f"{MAIN}.restartPolicy": "Sometimes"},
        ("1.35", "1.36"),
    ),
    "a rule that restarts the whole pod": (
        objects.POD,
        {f"{MAIN}.restartPolicy": "Never", f"{MAIN}.restartPolicyRules": [RULE]},
        ("1.35",),
    ),
    "a host's name of its own that is none": (objects.POD, {"spec.hostnameOverride": "A_B"}, ("1.35", "1.36")),
    "a service's name that starts with a digit": (objects.SERVICE, {"metadata.name": "1a"}, ("1.34", "1.35")),
    "a range with leading zeros": (
        objects.POLICY,
        {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "010.0.0.0/8"}}]}]},
        ("1.36",),
    ),
    "a range with bits beyond its mask": (
        objects.POLICY,
        {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}]},
        ("1.36",),
    ),
    "a device's toleration that is wrong, where it is not dropped": (
        objects.DEVICE_CLAIM,
        {"spec.devices.requests.0.exactly.tolerations": TOLERATION["tolerations"]},
        ("1.34", "1.36"),
    ),
    "an extended resource for a class of devices that is none": (
        objects.DEVICE_CLASS,
        {"spec.extendedResourceName": "gpu"},
        ("1.36",),
    ),
    "a selector that asks whether a device can be shared": (
        objects.DEVICE_CLASS,
        {"spec.selectors.0.cel.expression": "device.allowMultipleAllocations"},
        ("1.34", "1.35"),
    ),
    "an autoscaler's tolerance below 0": (
        AUTOSCALER,
        {"spec.behavior": {"scaleUp": {"tolerance": "-0.1"}}},
        ("1.35", "1.36"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_release(case: str) -> None:
    """An object is refused by the releases whose servers refuse it, and by no other."""
    base, changes, refusing = CASES[case]
    value = altered(base, changes)
    assert tuple(release for release in RELEASES if judged(value, kubernetes=release)) == refusing
