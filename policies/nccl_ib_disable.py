"""Environment variables must not turn off RDMA devices or GPU links that the pod has.

Why: NCCL then uses TCP or host memory at a fraction of the speed, without any warning.
Fix: remove the variable; NCCL then uses the fastest transport that it finds.
Source: NVIDIA/nccl 2.30 docs/userguide/source/env.rst; ofiwg/libfabric v2.2 man/fabric.7.md FI_PROVIDER
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
    environment,
    is_rdma,
    rdma_resources,
    whole_number,
)

DIRECT = "NCCL_NET_GDR_LEVEL"
"""How near GPU and NIC must be for GPUDirect RDMA."""

PROVIDERS = "FI_PROVIDER"
"""Names of libfabric's providers that programs may use; after a `^`, of those that they may not."""

SWITCHES = {"NCCL_P2P_DISABLE": "NVLink or xGMI", "NCCL_SHM_DISABLE": "shared memory"}
"""The link between GPUs of one pod that a number other than 0 turns off."""


def check(world: World) -> Iterator[Problem]:
    """Compare the environment of every container with the devices of its pod."""
    known = rdma_resources(world)
    for job in world.workloads():
        for pods in job.pod_sets():
            requested = {name: need.amount for name, need in pods.needs.items() if need.amount}
            devices = [name for name in requested if is_rdma(name, known)]
            gpus = {name for name in requested if name in WHOLE_GPUS and requested[name] > 1}
            yield from harmful_variables(pods, devices, several=bool(gpus))


def harmful_variables(pods: Pods, devices: list[str], *, several: bool) -> Iterator[Problem]:
    """Yield variables that turn off the pods' devices, or the links between their GPUs."""
    for variable in environment(pods):
        value = variable.value or ""
        if devices and turns_off(variable, devices):
            unused = f"GPUDirect RDMA on {devices[0]!r}" if variable.name == DIRECT else f"the requested {devices[0]!r}"
            message = f"{variable.name} is {value!r}, so NCCL does not use {unused}; remove one of them"
            yield Problem(variable.place, message)
        elif several and variable.name in SWITCHES and is_on(value):
            message = f"{variable.name} is {value!r}, so the pod's GPUs do not use {SWITCHES[variable.name]}; remove it"
            yield Problem(variable.place, message, severity=None if devices else Severity.WARNING)


def turns_off(variable: Variable, devices: list[str]) -> bool:
    """Say whether NCCL does not use the devices; its InfiniBand transport does not reach EFA."""
    own = any(name != EFA for name in devices)
    if variable.name == DIRECT:
        return (variable.value or "").strip().upper() in {"LOC", "0"}
    if variable.name == PROVIDERS:
        return EFA in devices and not names_efa(variable.value or "")
    if variable.name == "NCCL_NET":
        return (variable.value or "").lower() in ({"socket"} if own else {"socket", "ib"})
    return variable.name == "NCCL_IB_DISABLE" and own and is_on(variable.value or "")


def is_on(value: str) -> bool:
    """Say whether NCCL reads a value as yes: a number other than 0."""
    return (whole_number(value.strip()) or 0) != 0


def names_efa(value: str) -> bool:
    """Say whether a list of libfabric's providers leaves EFA to programs; an empty one leaves all."""
    allowed, names = not value.startswith("^"), {name.strip().lower() for name in value.lstrip("^").split(",")}
    return not value or ("efa" in names) == allowed
