"""Pods with RDMA devices or several GPUs do not switch off what they have.

Why: NCCL then goes over TCP or host memory at a fraction of the speed, and says nothing.
Fix: remove the variable; without it NCCL takes the fastest way that it finds.
Source: NVIDIA/nccl 2.30 docs/userguide/source/env.rst
"""

from collections.abc import Iterator

from trainyard.checks import (
    EFA,
    WHOLE_GPUS,
    Pods,
    Problem,
    Severity,
    Variable,
    World,
    is_rdma,
    rdma_resources,
    whole_number,
)

SWITCHES = {"NCCL_P2P_DISABLE": "NVLink", "NCCL_SHM_DISABLE": "shared memory"}
"""What a number other than 0 switches off between the GPUs of one pod."""


def check(world: World) -> Iterator[Problem]:
    """Hold the environment of every container against the devices of its pod."""
    known = rdma_resources(world)
    for job in world.workloads():
        for pods in job.pod_sets():
            asked = {name: need.amount for name, need in pods.needs.items() if need.amount}
            devices = [name for name in asked if is_rdma(name, known)]
            gpus = {name for name in asked if name in WHOLE_GPUS and asked[name] > 1}
            yield from of_pods(pods, devices, several=bool(gpus))


def of_pods(pods: Pods, devices: list[str], *, several: bool) -> Iterator[Problem]:
    """Yield variables that switch off the pods' devices, or the ways between their GPUs."""
    for variable in pods.variables():
        value = variable.value or ""
        if devices and closes(variable, devices):
            yield Problem(
                variable.place, f"{variable.name} is {value!r}, but the pod asks for {devices[0]!r}; remove one of them"
            )
        elif several and variable.name in SWITCHES and is_on(value):
            message = f"{variable.name} is {value!r}, so its GPUs do not use {SWITCHES[variable.name]}; remove it"
            yield Problem(variable.place, message, severity=None if devices else Severity.WARNING)


def closes(variable: Variable, devices: list[str]) -> bool:
    """Say whether a variable keeps NCCL off the devices: EFA is not reached by NCCL's own InfiniBand transport."""
    own = any(name != EFA for name in devices)
    if variable.name == "NCCL_NET_GDR_LEVEL":
        return (variable.value or "").strip().upper() in {"LOC", "0"}
    if variable.name == "NCCL_NET":
        return (variable.value or "").lower() in ({"socket"} if own else {"socket", "ib"})
    return variable.name == "NCCL_IB_DISABLE" and own and is_on(variable.value or "")


def is_on(value: str) -> bool:
    """Say whether NCCL reads a value as yes: a number other than 0."""
    return (whole_number(value.strip()) or 0) != 0
