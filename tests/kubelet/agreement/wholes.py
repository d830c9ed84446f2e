"""Pods with resources of their own on kubelets with the gate PodLevelResourceManagers, which 1.36 and 1.37 have."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from kubelet.agreement.cases import cases as drawn
from trainyard.upstream.pods.demand import at_one_time, requests_of
from trainyard.upstream.pods.pod import Pod
from trainyard.upstream.pods.resources import is_pod_level

GATE = {"PodLevelResourceManagers": True}
MEMORY = "memory"


def cases(seed: str, count: int) -> Iterator[dict[str, Any]]:
    """Yield so many cases, the same ones for the same seed: drawn ones with the gate on, and other pods."""
    for case in drawn(f"whole {seed}", count):
        random = Random(f"{case['name']} own")
        kubelet = {**case["kubelet"], "featureGates": {**case["kubelet"].get("featureGates", {}), **GATE}}
        if random.random() < 0.5:
            kubelet |= {"topologyManagerScope": "pod"}
        pods = [step if "remove" in step else _whole(random, step) for step in case["pods"]]
        yield {**case, "kubelet": kubelet, "pods": pods}


def _whole(random: Random, pod: dict[str, Any]) -> dict[str, Any]:
    """Return a pod of which most have resources of their own, and some of whose containers share them."""
    spec = {**pod["spec"], "containers": [*pod["spec"]["containers"]]}
    if random.random() < 0.12:
        return pod
    if random.random() < 0.5:
        shared: dict[str, Any] = {"name": "shared"}
        if random.random() < 0.4:
            shared["resources"] = {"requests": random.choice(({"cpu": "1"}, {"cpu": "1", MEMORY: "1Gi"}))}
        spec["containers"].insert(random.randrange(len(spec["containers"]) + 1), shared)
    if random.random() < 0.15:
        shared = {"name": "shared-init", **({"restartPolicy": "Always"} if random.random() < 0.5 else {})}
        spec["initContainers"] = [*spec.get("initContainers", ()), shared]
        random.shuffle(spec["initContainers"])
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        if random.random() < 0.15 and "resources" in container:
            container["resources"] = _apart(random, container["resources"])
    return {**pod, "spec": {**spec, "resources": _own(random, spec)}}


def _apart(random: Random, resources: dict[str, Any]) -> dict[str, Any]:
    """Return resources of a container that has no part of its own."""
    gone = random.choice(("cpu", MEMORY))
    limits = {name: amount for name, amount in resources.get("limits", {}).items() if name != gone}
    amounts = {name: amount for name, amount in limits.items() if name in ("cpu", MEMORY)}
    if random.random() < 0.7:
        return {**resources, "limits": limits}
    return {"requests": amounts, "limits": {name: limits[name] for name in limits if name not in amounts}}


def _own(random: Random, spec: dict[str, Any]) -> dict[str, Any]:
    """Return what a pod asks for as a whole: what its containers do, and mostly more."""
    total = at_one_time(Pod.of(spec).containers, requests_of)
    found = {name: amount for name, amount in total.items() if is_pod_level(name)}
    cpus = int(found["cpu"].amount) if "cpu" in found else 0
    memory = found[MEMORY].value() // 2**30 if MEMORY in found else 0
    own: dict[str, Any] = {
        "cpu": str(max(1, cpus + random.choice((0, 0, 1, 1, 2, 4)))),
        MEMORY: f"{memory + 1 + random.choice((0, 0, 1, 2, 8))}Gi",
    }
    if random.random() < 0.05:
        own["cpu"] = f"{cpus + 1}500m"
    own |= {name: str(amount) for name, amount in found.items() if name.startswith("hugepages")}
    if random.random() < 0.04:
        own["hugepages-1Gi"] = "1Gi"
    kind = random.random()
    if kind < 0.75:
        return {"requests": own, "limits": own}
    if kind < 0.85:
        return {"limits": own}
    return {"requests": own, "limits": {**own, "cpu": "64"}} if kind < 0.95 else {"requests": own}
