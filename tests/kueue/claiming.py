"""Cases by chance of Workloads whose pods claim devices: by templates, and by extended resources that classes serve."""

from __future__ import annotations

import random

from kueue.podsets import texts
from kueue.question import Object
from trainyard.upstream.kueue.replay import objects
from trainyard.upstream.kueue.replay.case import read
from trainyard.upstream.kueue.requests import adjusted_specs, count_requests, refusal_of_devices

KUEUE, RESOURCE = "kueue.x-k8s.io/v1beta2", "resource.k8s.io/v1"
CLASSES = ("gpu.example.com", "mig.example.com", "nic.example.com")
TIMES = ("2025-01-01T00:00:00Z", "2025-03-01T00:00:00Z", "2025-03-01T00:00:00Z", "2025-06-01T00:00:00Z")

Chance = random.Random


def case(seed: int) -> Object:
    """Return the case of a seed, the same each time; its queue has no quota, so that the Workload waits."""
    chance = Chance(f"claims {seed}")
    resource = {"name": "cpu", "nominalQuota": 0}
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [resource]}]}
    queue = {"namespaceSelector": {}, "resourceGroups": [group]}
    sets = [
        {"name": f"s{index}", "count": chance.choice([1, 2, 3]), "template": {"spec": pod(chance)}}
        for index in range(chance.choice([1, 1, 2]))
    ]
    parts = [
        *(device_class(chance, name) for name in CLASSES),
        *(template(chance, f"t{index}") for index in range(2)),
        {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "f"}},
        {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "cq"}, "spec": queue},
        {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "lq"}, "spec": {"clusterQueue": "cq"}},
        {
            "apiVersion": KUEUE,
            "kind": "Workload",
            "metadata": {"name": "w"},
            "spec": {"queueName": "lq", "podSets": sets},
        },
    ]
    return {"name": str(seed), "config": config(chance), "objects": parts}


def config(chance: Chance) -> Object:
    """Return Kueue's configuration: which classes count as what."""
    found: Object = {}
    mapped = []
    if chance.random() < 0.9:
        mapped.append({"name": "accelerators", "deviceClassNames": chance.sample(CLASSES, k=chance.choice([1, 2, 3]))})
    if chance.random() < 0.5:
        mapped.append({"name": "nics", "deviceClassNames": ["nic.example.com"]})
    if mapped:
        found["resources"] = {"deviceClassMappings": mapped}
    gates = ("KueueDRAIntegration", "KueueDRAIntegrationExtendedResource")
    off = {gate: False for gate in gates if chance.random() < 0.1}
    return {**found, "featureGates": off} if off else found


def device_class(chance: Chance, name: str) -> Object:
    """Return a DeviceClass, which serves an extended resource now and then."""
    spec = (
        {"extendedResourceName": chance.choice(["example.com/gpu", "example.com/nic"])} if chance.random() < 0.6 else {}
    )
    metadata = {"name": name, "creationTimestamp": chance.choice(TIMES)}
    return {"apiVersion": RESOURCE, "kind": "DeviceClass", "metadata": metadata, "spec": spec}


def template(chance: Chance, name: str) -> Object:
    """Return a claim template, one in ten of them nothing that Kueue counts."""
    requests = []
    for index in range(chance.choice([1, 1, 2])):
        exactly: Object = {"deviceClassName": chance.choice(CLASSES), "allocationMode": "ExactCount"}
        exactly |= {"count": chance.randint(1, 4)}
        request: Object = {"name": f"r{index}", "exactly": exactly}
        odd = chance.random()
        if odd < 0.04:
            exactly["allocationMode"] = "All"
            del exactly["count"]
        elif odd < 0.07:
            exactly["adminAccess"] = True
        elif odd < 0.1:
            request = {"name": f"r{index}", "firstAvailable": [{"name": "a", **exactly}]}
        requests.append(request)
    spec = {"spec": {"devices": {"requests": requests}}}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": RESOURCE, "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": spec}


def container(chance: Chance, name: str) -> Object:
    """Return a container."""
    requests: Object = {"cpu": 1}
    if chance.random() < 0.5:
        requests["example.com/gpu"] = chance.choice([0, 1, 2, 4])
    if chance.random() < 0.3:
        requests["example.com/nic"] = chance.choice([1, 2, 2, 2, "500m"])
    return {"name": name, "image": "i", "resources": {"requests": requests}}


def pod(chance: Chance) -> Object:
    """Return a pod."""
    spec: Object = {"containers": [container(chance, f"c{index}") for index in range(chance.choice([1, 2]))]}
    if chance.random() < 0.4:
        spec["initContainers"] = [
            {**container(chance, f"i{index}"), **({"restartPolicy": "Always"} if chance.random() < 0.5 else {})}
            for index in range(chance.choice([1, 2]))
        ]
    if chance.random() < 0.6:
        spec["resourceClaims"] = [
            {"name": f"x{index}", "resourceClaimTemplateName": chance.choice(["t0", "t1"])}
            for index in range(chance.choice([1, 2]))
        ]
        if chance.random() < 0.05:
            spec["resourceClaims"].append({"name": "y", "resourceClaimName": "z"})
    return spec


def answer(case: Object) -> Object:
    """Return what the pods of each set count as, or why Kueue refuses their devices."""
    given = read(case)
    around = objects.surroundings(given)
    (value,) = given.of("Workload")
    workload = objects.workload(value, given)
    specs = adjusted_specs(workload, around)
    why = refusal_of_devices(workload, specs, around)
    if why is not None:
        return {"refused": why}
    totals = count_requests(workload, specs, around)
    return {
        "totals": [
            texts({name: amount * pods.count for name, amount in total.items()})
            for pods, total in zip(workload.pod_sets, totals, strict=True)
        ]
    }


def told(found: Object) -> Object:
    """Return the same of an answer of the program that answers for Kueue."""
    said = found["workloads"]["default/w"]
    if said["message"].startswith(("spec.podSets", "[spec.podSets", "Workload uses DRA", "KueueDRAIntegration")):
        return {"refused": said["message"]}
    return {"totals": [request.get("total", {}) for request in said["requests"]]}
