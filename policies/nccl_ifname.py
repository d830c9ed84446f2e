"""The interfaces that NCCL and Gloo are told to use exist in the pod.

Why: NCCL looks for these and takes no other; where none is there it does not start, and names of a node's interfaces
 are not those of its pods.
Fix: write =eth0 for the cluster's network, and net1 and so on for attached ones.
Source: NVIDIA/nccl 2.30 docs/userguide/source/env.rst, src/misc/socket.cc; containernetworking default interface eth0
"""

import json
from collections.abc import Iterator

from trainyard.checks import NETWORKS, Pods, Problem, World

PREFIXES = {"NCCL_SOCKET_IFNAME"}
"""Variables whose names are beginnings, unless an equals sign stands before them."""

NAMES = {"GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", *PREFIXES}
LOOPBACK = "lo"
GKE = "networking.gke.io/interfaces"


def check(world: World) -> Iterator[Problem]:
    """Look at the environment of pods that have a network of their own."""
    for job in world.workloads():
        for pods in job.pod_sets():
            if pods.spec.get("hostNetwork") is True:
                continue
            there = interfaces(pods)
            for variable in pods.variables(init=False):
                value = variable.value or ""
                if variable.name in NAMES and value and not value.startswith("^") and "$" not in value:
                    exact = variable.name not in PREFIXES or value.startswith("=")
                    wanted = [part.strip() for part in value.lstrip("=").split(",") if part.strip()]
                    if pods.count > 1 and wanted == [LOOPBACK]:
                        message = f"{variable.name} is {value!r}, by which no pod reaches another; remove it"
                        yield Problem(variable.place, message)
                    elif there is not None and not any(fits(name, there, exact=exact) for name in wanted):
                        message = f"{variable.name} is {value!r}, but the pod's interfaces are: {', '.join(there)}"
                        yield Problem(variable.place, message)


def fits(name: str, there: list[str], *, exact: bool) -> bool:
    """Say whether a name, or a beginning of names, is that of an interface; NCCL takes a port behind a colon."""
    short = name.partition(":")[0]
    return short in there if exact else any(interface.startswith(short) for interface in there)


def interfaces(pods: Pods) -> list[str] | None:
    """Return a pod's interfaces: the cluster's own, and those of the networks that it names; None: not known."""
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
