"""Pods with resources of their own: their class, and which CPUs they get alone, are what the kubelets of minors say.

With TRAINYARD_KUBELET_1_36_3 and TRAINYARD_KUBELET_1_37_2 naming the programs of these kubelets (minors.py) they are
asked again, and with --update what they say is recorded.
"""

from __future__ import annotations

import json
from copy import deepcopy

import pytest

from conftest import ROOT
from kubelet.minors import asked
from trainyard.upstream.apiserver.core import defaults
from trainyard.upstream.kubelet.answers import answer

RECORDED = ROOT / "tests/kubelet/whole.jsonl"
NODE = {"threadsPerCore": 2, "numa": [{"copies": 2, "cores": 8, "memory": "64Gi"}]}
KUBELET = {
    "cpuManagerPolicy": "static",
    "reservedSystemCPUs": "0-1",
    "topologyManagerPolicy": "single-numa-node",
    "topologyManagerScope": "pod",
}
LIMITS = {"cpu": "4", "memory": "8Gi"}
MORE = {"cpu": "6", "memory": "9Gi"}
OWN = {
    "empty": {},
    "empty-lists": {"requests": {}, "limits": {}},
    "requests": {"requests": LIMITS},
    "some-requests": {"requests": {"cpu": "4"}},
    "more-requests": {"requests": MORE},
    "a-limit": {"limits": {"cpu": "6"}},
    "limits": {"limits": MORE},
    "both": {"requests": MORE, "limits": MORE},
}
"""What a pod says of itself; its container has limits."""

CASES = [
    {
        "name": f"whole/{name}",
        "kubernetes": minor,
        "node": NODE,
        "kubelet": KUBELET,
        "pods": [
            {
                "metadata": {"name": "a"},
                "spec": {
                    "resources": own,
                    "containers": [
                        {"name": "c", "resources": {"limits": LIMITS}},
                        *([{"name": "d", "resources": {"requests": {"cpu": "1"}}}] if beside else []),
                    ],
                },
            }
        ],
    }
    for minor in ("1.36", "1.37")
    for name, own in OWN.items()
    for beside in (False, True)
]


def told(said):
    """Return the class of a pod, and the CPUs of its containers."""
    (pod,) = said["pods"]
    cpus = [container.get("cpus") for container in pod.get("containers", ())]
    return pod["outcome"], pod.get("qos"), cpus


def recorded():
    """Return what the kubelets said, in the order of the cases."""
    return [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]


def test_the_class_of_a_pod_as_a_whole_is_what_its_kubelet_says():
    """From 1.37 on empty resources are none, and limits follow from containers that all have them."""
    said = [json.loads(json.dumps(told(answer(case)))) for case in CASES]
    assert said == recorded()
    older, newer = said[: len(said) // 2], said[len(said) // 2 :]
    assert sum(one != other for one, other in zip(older, newer, strict=True)) >= 5


FILLED = {
    "1.36": [{}, {}, {"requests": LIMITS}, {"requests": {"cpu": "4"}}],
    "1.37": [{}, {}, {"requests": LIMITS, "limits": LIMITS}, {"requests": LIMITS, "limits": LIMITS}],
}
"""What servers of these minors make of the first of OWN; they answered the same of 1,000 pods by chance each."""


@pytest.mark.parametrize(("minor", "filled"), FILLED.items(), ids=FILLED)
def test_the_server_fills_in_what_follows_from_containers(minor, filled):
    """From 1.37 on requests and limits of the pod are those of all its containers."""
    pods = [{"apiVersion": "v1", "kind": "Pod", **case["pods"][0]} for case in CASES[:8:2]]
    found = [defaults.apply(deepcopy(pod), minor)["spec"]["resources"] for pod in pods]
    assert [{key: value for key, value in own.items() if value} for own in found] == filled


GATE = {"featureGates": {"PodLevelResourceManagers": True}}
OPEN = {
    "the gate is on": ("1.37", GATE, "both", ["unknown", "unknown"]),
    "the gate is off": ("1.37", {}, "both", ["admitted", "admitted"]),
    "a pod that is not Guaranteed": ("1.36", GATE, "requests", ["admitted", "admitted"]),
    "a pod without resources of its own": ("1.37", GATE, "empty", ["admitted", "admitted"]),
    "no static manager": ("1.37", {**GATE, "cpuManagerPolicy": "none"}, "both", ["admitted", "admitted"]),
}


@pytest.mark.parametrize(("minor", "more", "own", "outcomes"), OPEN.values(), ids=OPEN)
def test_what_managers_give_a_pod_as_a_whole_is_unknown(minor, more, own, outcomes):
    """With their gate on nothing is said of such a pod, nor of those that come after it."""
    case = next(item for item in CASES if item["name"] == f"whole/{own}" and item["kubernetes"] == minor)
    after = {"metadata": {"name": "b"}, "spec": {"containers": [{"name": "c"}]}}
    said = answer({**case, "kubelet": {**KUBELET, **more}, "pods": [*case["pods"], after]})
    assert [pod["outcome"] for pod in said["pods"]] == outcomes


@pytest.mark.slow
def test_the_kubelets_say_so_again(request):
    """Asked again they agree."""
    said = [json.loads(json.dumps(told(one))) for one in asked(CASES)]
    if request.config.getoption("--update"):
        RECORDED.write_text("".join(json.dumps(one) + "\n" for one in said), encoding="utf-8")
    assert said == recorded()
