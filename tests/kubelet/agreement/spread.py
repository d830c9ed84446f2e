"""Nodes whose kubelet spreads CPUs over NUMA nodes and aligns them by socket, which minors do in different ways."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any


def cases(seed: str, count: int) -> Iterator[dict[str, Any]]:
    """Yield so many cases, the same ones for the same seed."""
    random = Random(f"spread {seed}")
    for index in range(count):
        nodes, cores, threads = random.choice((2, 4, 4, 8)), random.choice((4, 6, 8)), random.choice((1, 2, 2))
        node = {
            "sockets": random.choice((1, 2, 2, 2)),
            "threadsPerCore": threads,
            "numa": [{"copies": nodes, "cores": cores, "memory": "64Gi"}],
        }
        whole = threads == 2 and random.random() < 0.4
        pods = [_pod(f"p{number}", _amount(random, nodes * cores * threads, whole)) for number in range(6)]
        gone = [{"remove": [f"p{number}"]} for number in range(2)]
        steps = [*pods[:4], *gone[: random.randint(0, 2)], *pods[4:]]
        kubelet = _kubelet(random, nodes * cores, threads, whole)
        yield {"name": f"spread/{index}", "node": node, "kubelet": kubelet, "pods": steps}


def _kubelet(random: Random, cores: int, threads: int, whole: bool) -> dict[str, Any]:
    kept = random.sample(range(cores), random.choice((1, 1, 2, 3)))
    reserved = sorted(core + thread * cores for core in kept for thread in range(threads))
    options = {"distribute-cpus-across-numa": "true", "align-by-socket": random.choice(("true", "true", "false"))}
    return {
        "cpuManagerPolicy": "static",
        "cpuManagerPolicyOptions": options | ({"full-pcpus-only": "true"} if whole else {}),
        "topologyManagerPolicy": random.choice(("none", "best-effort", "restricted")),
        "featureGates": {"CPUManagerPolicyAlphaOptions": True},
        "reservedSystemCPUs": ",".join(map(str, reserved)),
    }


def _amount(random: Random, cpus: int, whole: bool) -> int:
    amount = random.randint(1, cpus // 2)
    return max(2, amount // 2 * 2) if whole else amount


def _pod(name: str, cpus: int) -> dict[str, Any]:
    limits = {"cpu": cpus, "memory": "1Gi"}
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "resources": {"limits": limits}}]}}
