"""Pods with resources of their own: their class, and which CPUs they get alone, are what the kubelets of minors say.

With TRAINYARD_KUBELET_1_36_3 and TRAINYARD_KUBELET_1_37_2 naming the programs of these kubelets (minors.py) they are
asked again, and with --update what they say is recorded.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from copy import deepcopy
from functools import cache

import pytest

from conftest import ROOT
from kubelet.agreement import wholes
from kubelet.minors import asked
from trainyard.upstream.apiserver.core import defaults
from trainyard.upstream.kubelet.answers import answer
from trainyard.upstream.kubelet.whole import EMPTY, GATE, IN_CONTAINER, IN_POD

RECORDED = ROOT / "tests/kubelet/whole.jsonl"
DRAWN = ROOT / "tests/kubelet/agreement/wholes.jsonl.gz"
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


@cache
def drawn():
    """Return drawn cases with the gate of whole pods on, those that have one answer, with what kubelets answered."""
    return [json.loads(line) for line in gzip.decompress(DRAWN.read_bytes()).splitlines()]


@pytest.mark.parametrize("minor", ["1.36", "1.37"])
def test_managers_serve_pods_as_a_whole_as_the_kubelet_does(minor):
    """Which CPUs, memory and devices their containers get, in both scopes, and what is said of those refused."""
    items = [item for item in drawn() if item["case"]["kubernetes"] == minor]
    assert len(items) > 80
    for item in items:
        assert json.loads(json.dumps(answer(item["case"]))) == item["answer"], item["case"]["name"]


def test_drawn_cases_hold_what_whole_pods_meet():
    """Parts of their own and shared ones, in both scopes; and each of the refusals that only such pods get."""
    pods = [pod for item in drawn() for pod in item["answer"].get("pods", ())]
    reasons = Counter(pod["reason"] for pod in pods if "reason" in pod)
    said = Counter(word for pod in pods for word in (IN_POD, IN_CONTAINER) if pod.get("message") == word)
    shared = [
        pod for pod in pods if any(one.get("name") == "shared" and "cpus" in one for one in pod.get("containers", ()))
    ]
    assert min(reasons[EMPTY], said[IN_POD], said[IN_CONTAINER]) >= 2
    assert len(shared) > 10


GPUS = {"nvidia.com/gpu": [{"count": 2, "numa": 0}]}
SCOPES = {"container": 1, "pod": 2}
"""GPUs that are left on a node of two when a pod has asked for one."""


@pytest.mark.parametrize(("scope", "left"), SCOPES.items(), ids=SCOPES)
def test_devices_of_whole_pods_come_late_in_the_scope_of_pods(scope, left):
    """The device manager gives none until a container starts, so that no lack of them is noticed before."""
    asked = {**LIMITS, "nvidia.com/gpu": "1"}
    pod = {
        "metadata": {"name": "a"},
        "spec": {
            "resources": {"limits": LIMITS, "requests": LIMITS},
            "containers": [{"name": "c", "resources": {"limits": asked}}],
        },
    }
    kubelet = {**KUBELET, "topologyManagerScope": scope, "featureGates": {GATE: True}}
    said = answer({"kubernetes": "1.37", "node": {**NODE, "devices": GPUS}, "kubelet": kubelet, "pods": [pod]})
    assert said["pods"][0]["outcome"] == "admitted"
    assert said["left"]["devices"] == {"nvidia.com/gpu": left}


def test_what_only_the_container_runtime_knows_is_unknown():
    """Nothing is said of a pod whose feature the runtime has to declare, nor of those that come after it."""
    pod = {"metadata": {"name": "a"}, "spec": {"hostUsers": False, "hostNetwork": True, "containers": [{"name": "c"}]}}
    after = {"metadata": {"name": "b"}, "spec": {"containers": [{"name": "c"}]}}
    case = {"kubernetes": "1.37", "node": NODE, "pods": [pod, after]}
    for on, outcomes in ((True, ["unknown", "unknown"]), (False, ["refused", "admitted"])):
        said = answer({**case, "kubelet": {"featureGates": {"UserNamespacesHostNetworkSupport": on}}})
        assert [one["outcome"] for one in said["pods"]] == outcomes


@pytest.mark.slow
def test_the_kubelets_say_so_again(request):
    """Asked again they agree."""
    said = [json.loads(json.dumps(told(one))) for one in asked(CASES)]
    if request.config.getoption("--update"):
        RECORDED.write_text("".join(json.dumps(one) + "\n" for one in said), encoding="utf-8")
    assert said == recorded()


@pytest.mark.slow
def test_the_kubelets_serve_pods_as_a_whole_so_again(request):
    """Asked again of drawn cases they agree; cases that have several answers are left out when they are recorded."""
    if request.config.getoption("--update"):
        cases = [{**case, "kubernetes": minor} for minor in ("1.36", "1.37") for case in wholes.cases("recorded", 150)]
        said = zip(cases, asked(cases, repeat=30), strict=True)
        stable = [{"case": case, "answer": one} for case, one in said if not one.get("unstable")]
        lines = "".join(json.dumps(item) + "\n" for item in stable)
        DRAWN.write_bytes(gzip.compress(lines.encode(), mtime=0))
    else:
        assert asked([item["case"] for item in drawn()]) == [item["answer"] for item in drawn()]
