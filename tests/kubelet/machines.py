"""Machines and pods for tests: valid by default, so that a test shows only what matters."""

from __future__ import annotations

from typing import Any

from trainyard.upstream.kubelet import Cpu, Device, Machine, NumaNode

GI = 2**30


def gpu_node() -> Machine:
    """Return a machine with two sockets of sixteen cores with two threads, 64 GiB and four GPUs each."""
    cpus = [
        Cpu(thread * 32 + core, core, core // 16, core // 16, core // 16) for core in range(32) for thread in (0, 1)
    ]
    return Machine(
        numa=(NumaNode(0, 64 * GI, distances=(10, 32)), NumaNode(1, 64 * GI, distances=(32, 10))),
        cpus=tuple(cpus),
        devices={"nvidia.com/gpu": tuple(Device(f"gpu-{index}", (index // 4,)) for index in range(8))},
    )


def pod(
    name: str,
    *,
    cpu: int,
    memory: str,
    gpus: int = 0,
    requests: dict[str, str] | None = None,
    priority: int | None = None,
) -> dict[str, Any]:
    """Return a Pod with one container, Guaranteed unless its requests are said."""
    limits = {"cpu": str(cpu), "memory": memory, **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    resources = {"limits": limits, **({"requests": requests} if requests else {})}
    spec: dict[str, Any] = {"containers": [{"name": "c", "resources": resources}]}
    if priority is not None:
        spec["priority"] = priority
    return {"metadata": {"name": name}, "spec": spec}
