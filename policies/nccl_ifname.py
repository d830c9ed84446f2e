"""The network interfaces that NCCL and Gloo are set to use must exist in the pod.

Why: NCCL uses only these interfaces and fails to start if none exists. A pod does not have the interfaces of its node.
Fix: write eth0 for the cluster's network, net1 for the first attached network, and so on.
Source: NVIDIA/nccl 2.30 docs/userguide/source/env.rst, src/misc/socket.cc; containernetworking default interface eth0
"""

import json
from collections.abc import Iterator

from trainyard.checks import NETWORKS, Pods, Problem, World, environment

PREFIXES = {"NCCL_SOCKET_IFNAME"}
"""Variables whose values are prefixes of names, unless they begin with an equals sign."""

NAMES = {"GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", *PREFIXES}
LOOPBACK = "lo"
GKE = "networking.gke.io/interfaces"


def check(world: World) -> Iterator[Problem]:
    """Check the environment of pods that do not use the node's network."""
    for job in world.workloads():
        for pods in job.pod_sets():
            if pods.spec.get("hostNetwork") is True:
                continue
            existing = interfaces(pods)
            for variable in environment(pods, init=False):
                value = variable.value or ""
                if variable.name in NAMES and value and not value.startswith("^") and "$" not in value:
                    exact = variable.name not in PREFIXES or value.startswith("=")
                    wanted = [part.strip() for part in value.lstrip("=").split(",") if part.strip()]
                    if pods.count > 1 and wanted == [LOOPBACK]:
                        message = f"{variable.name} is {value!r}, the loopback, which reaches no other pod; remove it"
                        yield Problem(variable.place, message)
                    elif existing is not None and not any(matches(name, existing, exact=exact) for name in wanted):
                        message = (
                            f"{variable.name} is {value!r}, but the pod has only the interfaces {', '.join(existing)}"
                        )
                        yield Problem(variable.place, message)


def matches(name: str, existing: list[str], *, exact: bool) -> bool:
    """Say whether a name or prefix matches an interface; NCCL allows a port after a colon."""
    short = name.partition(":")[0]
    return short in existing if exact else any(interface.startswith(short) for interface in existing)


def interfaces(pods: Pods) -> list[str] | None:
    """Return the pod's interfaces, those of attached networks too; None if they are unknown."""
    found = ["eth0", "lo"]
    if said := pods.annotations.get(GKE):
        try:
            return [*found, *(load["interfaceName"] for load in json.loads(said))]
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
    text = pods.annotations.get(NETWORKS, "").strip()
    if not text.startswith("["):
        names = [part.partition("@")[2].strip() for part in text.split(",") if part.strip()]
    else:
        try:
            names = [str(load.get("interface") or "") for load in json.loads(text)]
        except (ValueError, AttributeError, TypeError, RecursionError):
            return None
    return [*found, *(name or f"net{number}" for number, name in enumerate(names, 1))]
