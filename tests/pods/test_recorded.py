"""What a pod asks for, and its quality of service, is what the kubelet's and Kueue's own code said of drawn pods.

With TRAINYARD_KUBELET_ORACLE and TRAINYARD_KUEUE_ORACLE naming programs that answer for them, pods are drawn and asked
about again, and with --update recorded.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import ROOT
from trainyard.judge.policies.amounts import is_guaranteed
from trainyard.upstream.kueue.model.placements import Surroundings
from trainyard.upstream.kueue.requests.adjust import counted_as
from trainyard.upstream.kueue.requests.amounts import pod_amounts
from trainyard.upstream.pods.pod import Pod

RECORDED = ROOT / "tests/pods/answers.jsonl.gz"
PODS = 200
SPELLINGS = {
    "cpu": ["0", "0.1", "100m", "250m", "0.5", "5e-1", "1", 1, "1000m", "1500m", "+2", 3],
    "memory": ["0", "64Mi", "1e8", "128974848", "123Mi", "1G", "1Gi", "1024Mi", "1073741824", 2147483648, "2Gi"],
}
"""Amounts in the order of their size, some of them twice in other words."""


def drawn(dice: random.Random) -> dict[str, Any]:
    """A pod that the API server takes: requests are at most limits, in some pods in all containers as much."""
    says, alike = dice.random() < 0.95, dice.random() < 0.2
    first = [container(dice, f"i{index}", says=says, alike=alike) for index in range(dice.randint(0, 4))]
    count = dice.randint(1, 3)
    spec: dict[str, Any] = {
        "initContainers": [item | dice.choice([{}, {"restartPolicy": "Always"}]) for item in first],
        "containers": [container(dice, f"c{index}", says=says, alike=alike) for index in range(count)],
    }
    if dice.random() < 0.2:
        spec["overhead"] = {"cpu": "250m", "memory": "120Mi"}
    if dice.random() < 0.2:
        spec["resources"] = {"requests": {"cpu": "100", "memory": "200Gi"}}
        if dice.random() < 0.5:
            spec["resources"]["limits"] = {"cpu": "100000m", "memory": "200Gi"}
    return spec


def container(dice: random.Random, name: str, *, says: bool, alike: bool) -> dict[str, Any]:
    """A container with requests, limits, both, or neither."""
    resources: dict[str, dict[str, Any]] = {"requests": {}, "limits": {}}
    for resource, spellings in SPELLINGS.items() if says else ():
        low, high = sorted(dice.choices(range(alike, len(spellings)), k=2))
        if alike or dice.random() < 0.6:
            resources["limits"][resource] = spellings[high]
        if dice.random() < 0.6:
            resources["requests"][resource] = spellings[high if alike else low]
    return {
        "name": name,
        "image": "i",
        "resources": {kind: resource for kind, resource in resources.items() if resource},
    }


def kubelets(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Cases of a node without CPUs to speak of, and of one without memory."""
    pod = {"metadata": {"name": "a"}, "spec": spec}
    return [
        {"name": lacks, "node": {"numa": [{"cores": 200, "memory": "1000Gi"}]}, "kubelet": kubelet, "pods": [pod]}
        for lacks, kubelet in (
            ("cpu", {"systemReserved": {"cpu": "200"}}),
            ("memory", {"systemReserved": {"memory": "1000Gi"}, "evictionHard": {"nodefs.available": "10%"}}),
        )
    ]


def kueues(spec: dict[str, Any]) -> dict[str, Any]:
    """A case of one Workload with a pod, and a queue with more than enough."""
    kueue = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
    quota = [{"name": name, "nominalQuota": "1000Gi"} for name in SPELLINGS]
    group = {"coveredResources": list(SPELLINGS), "flavors": [{"name": "f", "resources": quota}]}
    pod_set = {"name": "main", "count": 1, "template": {"spec": spec}}
    specs = {
        "ResourceFlavor": ("f", {}),
        "ClusterQueue": ("q", {"namespaceSelector": {}, "resourceGroups": [group]}),
        "LocalQueue": ("q", {"clusterQueue": "q"}),
        "Workload": ("w", {"queueName": "q", "podSets": [pod_set]}),
    }
    objects = [{**kueue, "kind": kind, "metadata": {"name": name}, "spec": own} for kind, (name, own) in specs.items()]
    return {"name": "a", "objects": objects}


def asked(program: str, cases: list[dict[str, Any]], *arguments: str) -> list[dict[str, Any]]:
    """What a program answers."""
    lines = "\n".join(map(json.dumps, cases))
    said = subprocess.run([program, *arguments], input=lines, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in said.splitlines()]


def requested(answers: list[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    """Yield what the pod was told that it asks for of each resource, of which a node has none; what admits it is 0."""
    for answer in answers:
        (pod,) = answer["pods"]
        found = re.search(r"requested: (\d+)", pod.get("message", ""))
        assert (found is None) == (pod["outcome"] == "admitted"), pod
        yield answer["name"], int(found[1]) if found else 0


def lines() -> list[dict[str, Any]]:
    """The drawn pods with what was said of them."""
    return [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


def amounts(pod: Pod) -> dict[str, int]:
    """What a pod asks for, in thousandths of CPUs and bytes."""
    return {name: value.milli_value() if name == "cpu" else value.value() for name, value in pod.asked.items()}


def counted(found: dict[str, int]) -> dict[str, int]:
    """The amounts of both resources."""
    return {name: found.get(name, 0) for name in SPELLINGS}


def test_pods_ask_for_what_upstream_said() -> None:
    """Of both programs, and of both readers, pod by pod."""
    known = lines()
    assert len(known) == PODS
    assert {item["qos"] for item in known} == {"Guaranteed", "Burstable", "BestEffort"}
    for item in known:
        pod = Pod.of(item["spec"])
        assert counted(amounts(pod)) == item["kubelet"], item
        assert pod.qos == item["qos"], item
        assert is_guaranteed(item["spec"]) == (item["qos"] == "Guaranteed" and "resources" not in item["spec"])
        kueue = pod_amounts(counted_as(item["spec"], {}, Surroundings()))
        assert counted(kueue) == item["kueue"], item


@pytest.mark.slow
def test_upstream_says_so(request: pytest.FixtureRequest) -> None:
    """Asked again, of pods drawn anew."""
    kubelet, kueue = (os.environ.get(f"TRAINYARD_{name}_ORACLE") for name in ("KUBELET", "KUEUE"))
    if kubelet is None or kueue is None:
        pytest.skip("what drawn pods ask for: set TRAINYARD_KUBELET_ORACLE and TRAINYARD_KUEUE_ORACLE")
    dice = random.Random(0)
    specs = [drawn(dice) for _ in range(PODS)]
    of_kubelet = asked(kubelet, [case for spec in specs for case in kubelets(spec)])
    of_kueue = asked(kueue, [kueues(spec) for spec in specs], "schedule")
    found = []
    for index, spec in enumerate(specs):
        mine = of_kubelet[2 * index : 2 * index + 2]
        (workload,) = of_kueue[index]["workloads"].values()
        total = workload["podSets"][0].get("usage", {})
        usage = amounts(Pod.of({"containers": [{"resources": {"requests": total}}]}))
        qos = mine[0]["pods"][0]["qos"]
        found.append({"spec": spec, "kubelet": dict(requested(mine)), "kueue": counted(usage), "qos": qos})
    if request.config.getoption("--update"):
        RECORDED.write_bytes(gzip.compress("\n".join(map(json.dumps, found)).encode(), mtime=0))
    assert found == lines()
