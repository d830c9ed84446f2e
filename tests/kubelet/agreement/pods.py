"""Pods drawn at random for a drawn node: one after the other they arrive, and some go before the next comes."""

from __future__ import annotations

from random import Random
from typing import Any

CRITICAL = 2_000_000_000


def draw_steps(random: Random, node: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the `pods` of a case."""
    there: list[str] = []
    steps: list[dict[str, Any]] = []
    for index in range(random.choice((1, 2, 2, 3, 3, 4, 6))):
        name = f"p{index}" if random.random() < 0.97 or not there else there[-1]
        steps.append(_pod(random, node, name))
        there.append(name)
        if random.random() < 0.25:
            steps.append({"remove": [random.choice(there)]})
    return steps


def _pod(random: Random, node: dict[str, Any], name: str) -> dict[str, Any]:
    kind = random.choices(("guaranteed", "burstable", "best-effort", "fraction"), (75, 14, 4, 7))[0]
    spec: dict[str, Any] = {"containers": _containers(random, node, kind, random.choices((1, 2, 3), (75, 18, 7))[0])}
    if random.random() < 0.2:
        spec["initContainers"] = _containers(random, node, kind, random.choice((1, 1, 2)), init=True)
    pod: dict[str, Any] = {"metadata": {"name": name}, "spec": spec}
    _odds(random, pod)
    return pod


def _odds(random: Random, pod: dict[str, Any]) -> None:
    """Add what few pods have."""
    spec, drawn = pod["spec"], random.random()
    if drawn < 0.04:
        pod["status"] = {"phase": "Pending"}
    elif drawn < 0.07:
        spec["priority"] = CRITICAL
    elif drawn < 0.1:
        spec["priority"] = random.choice((100, 1000))
    elif drawn < 0.12:
        spec["nodeSelector"] = {"pool": random.choice("ab")}
    elif drawn < 0.14:
        spec["resources"] = {"limits": {"cpu": "8", "memory": "16Gi"}}
    elif drawn < 0.15:
        spec["overhead"] = {"cpu": "1", "memory": "1Gi"}


def _containers(
    random: Random, node: dict[str, Any], kind: str, count: int, *, init: bool = False
) -> list[dict[str, Any]]:
    out = []
    for index in range(count):
        own = kind if random.random() < 0.96 else "best-effort"
        container = {"name": f"{'i' if init else 'c'}{index}", "resources": _resources(random, node, own)}
        if init and random.random() < 0.3:
            container["restartPolicy"] = "Always"
        out.append(container)
    return out


def _resources(random: Random, node: dict[str, Any], kind: str) -> dict[str, Any]:
    if kind == "best-effort":
        devices = _devices(random, node) if random.random() < 0.5 else {}
        return {"limits": devices} if devices else {}
    cores = sum(item.get("cores", 0) for item in node["numa"]) * node["threadsPerCore"]
    per_node = max(cores // len(node["numa"]), 1)
    cpus = random.choice(
        (1, 2, 2, 3, 4, per_node // 2, per_node, per_node + 1, cores // 2, cores - per_node, cores - 2, cores)
    )
    memory = random.choice((1, 1, 2, 4, 7, 12, 16, 30, 40, 60, 100))
    limits: dict[str, Any] = {"cpu": str(max(cpus, 1)), "memory": f"{memory}Gi"}
    if kind == "fraction":
        limits["cpu"] = f"{max(cpus, 1)}500m" if cpus < 4 else "2500m"
    sizes = sorted({size for item in node["numa"] for size in item.get("hugepages", {})})
    if sizes and random.random() < 0.4:
        limits[f"hugepages-{random.choice(sizes)}"] = f"{random.choice((1, 1, 2, 4))}Gi"
    elif random.random() < 0.004:
        limits["hugepages-64Ki"] = "1Mi"
    limits |= _devices(random, node)
    if kind == "burstable":
        return {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": limits}
    if random.random() < 0.01:
        return {"requests": {"cpu": str(max(cpus, 1) + 1)}, "limits": limits}
    return {"limits": limits}


def _devices(random: Random, node: dict[str, Any]) -> dict[str, str]:
    out = {}
    for name, groups in sorted(node["devices"].items()):
        total = sum(group["count"] for group in groups)
        if random.random() < (0.7 if "gpu" in name else 0.4):
            count = random.choice((1, 1, 1, 2, 2, 4, total // 2, total, total + 1))
            out[name] = str(count)
    if random.random() < 0.01:
        out["example.com/fpga"] = "1"
    return out
