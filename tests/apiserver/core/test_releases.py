"""Core kinds: what differs between the releases of Kubernetes, as their servers said."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver import core_objects as objects
from apiserver.core_objects import altered, judged
from trainyard.upstream.apiserver.core import gangs

RELEASES = ("1.34", "1.35", "1.36", "1.37")
GATES = (gangs.OF_PODS, gangs.OF_JOBS)
MAIN = "spec.containers.0"
TOLERATION = {"tolerations": [{"key": "a b", "operator": "Exists"}]}
RULE = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
AUTOSCALER = objects.named(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    spec={"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}},
)
QUEUE = {
    "type": "External",
    "external": {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": "5"}},
}
CERTIFICATE = {
    "signerName": "kubernetes.io/kube-apiserver-client-pod",
    "keyType": "ED25519",
    "credentialBundlePath": "tls.pem",
}
LONG = {"maxExpirationSeconds": 90_000}

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
        ("1.36", "1.37"),
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
        ("1.36", "1.37"),
    ),
    "conditions of a binding without those of its failure": (
        SLICE,
        {"spec.devices.0.bindingConditions": ["ready"]},
        ("1.36", "1.37"),
    ),
    "counters beside devices": (SLICE, {"spec.sharedCounters": []}, ("1.36", "1.37")),
    "an image as a volume without a reference, where such volumes are not dropped": (
        objects.POD,
        {"spec.volumes.1": {"name": "model", "image": {}}},
        ("1.35", "1.36", "1.37"),
    ),
    "a restart policy of a container that is none, where it is not dropped": (
        objects.POD,
        {f"{MAIN}.restartPolicy": "Sometimes"},
        ("1.35", "1.36", "1.37"),
    ),
    "a rule that restarts the whole pod": (
        objects.POD,
        {f"{MAIN}.restartPolicy": "Never", f"{MAIN}.restartPolicyRules": [RULE]},
        ("1.35",),
    ),
    "a host's name of its own that is none": (objects.POD, {"spec.hostnameOverride": "A_B"}, ("1.35", "1.36", "1.37")),
    "a service's name that starts with a digit": (objects.SERVICE, {"metadata.name": "1a"}, ("1.34", "1.35")),
    "a range with leading zeros": (
        objects.POLICY,
        {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "010.0.0.0/8"}}]}]},
        ("1.36", "1.37"),
    ),
    "a range with bits beyond its mask": (
        objects.POLICY,
        {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}]},
        ("1.36", "1.37"),
    ),
    "a device's toleration that is wrong, where it is not dropped": (
        objects.DEVICE_CLAIM,
        {"spec.devices.requests.0.exactly.tolerations": TOLERATION["tolerations"]},
        ("1.34", "1.36", "1.37"),
    ),
    "an extended resource for a class of devices that is none": (
        objects.DEVICE_CLASS,
        {"spec.extendedResourceName": "gpu"},
        ("1.36", "1.37"),
    ),
    "a selector that asks whether a device can be shared": (
        objects.DEVICE_CLASS,
        {"spec.selectors.0.cel.expression": "device.allowMultipleAllocations"},
        ("1.34", "1.35"),
    ),
    "a template whose image volume names no image": (
        objects.DEPLOYMENT,
        {"spec.template.spec.volumes.1": {"name": "model", "image": {}}},
        ("1.37",),
    ),
    "a trust bundle that is neither named nor has a signer, where it is not dropped": (
        objects.POD,
        {"spec.volumes.1": {"name": "ca", "projected": {"sources": [{"clusterTrustBundle": {"path": "ca.pem"}}]}}},
        ("1.37",),
    ),
    "a pod's certificate of an unknown kind of key, where it is not dropped": (
        objects.POD,
        {
            "spec.volumes.1": {
                "name": "tls",
                "projected": {"sources": [{"podCertificate": CERTIFICATE | {"keyType": "DSA"}}]},
            }
        },
        ("1.37",),
    ),
    "a pod's certificate that lasts longer than a day, of a signer of Kubernetes": (
        objects.POD,
        {"spec.volumes.1": {"name": "tls", "projected": {"sources": [{"podCertificate": CERTIFICATE | LONG}]}}},
        ("1.37",),
    ),
    "a pod's certificate that is right": (
        objects.POD,
        {"spec.volumes.1": {"name": "tls", "projected": {"sources": [{"podCertificate": CERTIFICATE}]}}},
        (),
    ),
    "a gang that is larger than its Job, whose gate is off": (
        objects.JOB,
        {"spec.scheduling": {"schedulingPolicy": {"gang": {"minCount": 99}}}},
        (),
    ),
    "an autoscaler that begins at nothing, by processors": (AUTOSCALER, {"spec.minReplicas": 0}, RELEASES),
    "an autoscaler that begins at nothing, by a queue": (
        AUTOSCALER,
        {"spec.minReplicas": 0, "spec.metrics": [QUEUE]},
        ("1.34", "1.35", "1.36"),
    ),
    "no pod of a StatefulSet may be missing, where that counts": (
        objects.STATEFUL_SET,
        {"spec.updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0}}},
        ("1.37",),
    ),
    "a shared capacity in steps of one and a half": (
        SLICE,
        {
            "spec.devices.0.allowMultipleAllocations": True,
            "spec.devices.0.capacity.memory.requestPolicy": {
                "default": "2",
                "validRange": {"min": "500m", "step": "1500m"},
            },
        },
        ("1.36",),
    ),
    "a shared capacity whose default is none of its values": (
        SLICE,
        {
            "spec.devices.0.allowMultipleAllocations": True,
            "spec.devices.0.capacity.memory.requestPolicy": {"default": "3Gi", "validValues": ["1Gi", "2Gi"]},
        },
        ("1.36", "1.37"),
    ),
    "a device's taint without an effect": (
        SLICE,
        {"spec.devices.0.taints": [{"key": "example.com/broken"}]},
        ("1.36", "1.37"),
    ),
    "a second attribute of a constraint without a domain": (
        objects.DEVICE_CLAIM,
        {
            "spec.devices.constraints": [
                {"matchAttribute": "example.com/numa", "distinctAttribute": "numa"},
            ]
        },
        ("1.37",),
    ),
    "an autoscaler's tolerance below 0": (
        AUTOSCALER,
        {"spec.behavior": {"scaleUp": {"tolerance": "-0.1"}}},
        ("1.35", "1.36", "1.37"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_release(case: str) -> None:
    """An object is refused by the releases whose servers refuse it, and by no other."""
    base, changes, refusing = CASES[case]
    value = altered(base, changes)
    assert tuple(release for release in RELEASES if judged(value, kubernetes=release)) == refusing


GANG = {"spec.parallelism": 2, "spec.scheduling": {"schedulingPolicy": {"gang": {"minCount": 2}}}}
GANGS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "all pods": ({"schedulingPolicy": {"gang": {}}, "disruptionMode": {"all": {}}}, ()),
    "nothing": ({}, ()),
    "one by one": ({"disruptionMode": {"single": {}}}, ()),
    "a level": ({"schedulingConstraints": {"topology": [{"key": "example.com/rack"}]}}, ()),
    "more than run": ({"schedulingPolicy": {"gang": {"minCount": 3}}}, ("schedulingPolicy.gang.minCount",)),
    "none": ({"schedulingPolicy": {"gang": {"minCount": 0}}}, ("schedulingPolicy.gang.minCount",)),
    "no policy": ({"schedulingPolicy": {}}, ("schedulingPolicy",)),
    "both policies": ({"schedulingPolicy": {"gang": {}, "basic": {}}}, ("schedulingPolicy",)),
    "together, but no gang": ({"disruptionMode": {"all": {}}}, ("disruptionMode",)),
    "no mode": ({"disruptionMode": {}}, ("disruptionMode",)),
    "a level that is none": (
        {"schedulingConstraints": {"topology": [{"key": "a b"}]}},
        ("schedulingConstraints.topology[0].key",),
    ),
    "a claim of nothing": ({"resourceClaims": [{"name": "c"}]}, ("resourceClaims[0]",)),
}
"""What a Job says of its gang, and where a kube-apiserver 1.37.2 with both gates refuses it."""


@pytest.mark.parametrize("case", GANGS)
def test_gangs_of_jobs(case: str) -> None:
    """With its gates on, the server looks at the gang of a Job."""
    scheduling, refused = GANGS[case]
    value = altered(objects.JOB, {"spec.parallelism": 2, "spec.scheduling": scheduling})
    found = gangs.check(value, "batch", "Job", kubernetes="1.37", gates=GATES)
    assert tuple(objects.spelled(problem.path) for problem in found) == tuple(f"spec.scheduling.{at}" for at in refused)


@pytest.mark.parametrize(
    ("kubernetes", "gates", "warnings"),
    [("1.37", (), 1), ("1.37", ("WorkloadWithJob",), 1), ("1.37", GATES, 0), ("1.36", (), 0)],
)
def test_a_gang_whose_gate_is_off_is_told(kubernetes: str, gates: tuple[str, ...], warnings: int) -> None:
    """The server leaves the field out without a word, so a warning says it; older servers do not know it at all."""
    value = altered(objects.JOB, GANG)
    found = list(gangs.check(value, "batch", "Job", kubernetes=kubernetes, gates=gates))
    assert [problem.warns for problem in found] == [True] * warnings
    assert list(gangs.check(objects.JOB, "batch", "Job", kubernetes=kubernetes, gates=gates)) == []
