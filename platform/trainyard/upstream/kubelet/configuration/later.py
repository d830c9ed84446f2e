"""What kubelets of later minors have against a configuration, beside what all of them have.

Source: kubernetes v1.36.3 and v1.37.2 pkg/kubelet/apis/config/validation/validation.go, component-helpers v0.37.2
node/util/sysctl/namespace.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.quantities import duration_text
from trainyard.upstream.kubelet.configuration.gates import Gates
from trainyard.upstream.kubelet.configuration.words import quote
from trainyard.upstream.kubelet.releases import is_since

FORMER_FACTOR = 0.9
"""A factor that older configurations have, and that is taken where memory is not throttled."""

RESERVATIONS = ("None", "TieredReservation")
SEGMENT = r"[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
SYSCTL = re.compile(rf"({SEGMENT}[./])*{SEGMENT}")
LONGEST_SYSCTL = 253
NAMESPACED = frozenset(
    {"kernel.domainname", "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced"}
    | {"kernel.shm", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"}
)
PREFIXES = ("net.", "fs.mqueue.", "user.")
"""Kernel parameters that each pod has of its own, and what the names of others begin with."""


def check_sysctls(c: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    """Yield kernel parameters for all pods that no pod can have of its own."""
    given = c.get("defaultPodSysctls") or {}
    if not given or not is_since(gates.minor, "1.37"):
        return
    if not gates.on("DefaultPodSysctls"):
        yield "DefaultPodSysctls feature gate is required for Kubelet configuration option defaultPodSysctls"
        return
    seen: set[str] = set()
    for name in given:
        if len(name) > LONGEST_SYSCTL or not SYSCTL.fullmatch(name):
            yield f"{quote(name)} is not a valid sysctl name for defaultPodSysctls"
            continue
        plain = with_dots(name)
        if plain not in NAMESPACED and not plain.startswith(PREFIXES):
            yield f"{quote(name)} is not known to be namespaced for defaultPodSysctls"
        if plain in seen:
            yield f"duplicate sysctl {quote(plain)} found in defaultPodSysctls"
        seen.add(plain)


def with_dots(name: str) -> str:
    """Return a name of a kernel parameter with dots, unless it has one before its first slash."""
    first = re.search(r"[./]", name)
    return name.translate(str.maketrans("./", "/.")) if first and first[0] == "/" else name


def check_oldest(c: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    """Yield an age of images that is negative."""
    age = c["imageMinimumGCAge"]
    if age < 0 and is_since(gates.minor, "1.36"):
        yield f"imageMinimumGCAge {duration_text(age)} must not be negative"


def check_factor(c: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    """Yield a factor that nothing is throttled by."""
    factor = c.get("memoryThrottlingFactor")
    if is_since(gates.minor, "1.37") and not gates.on("MemoryQoS") and factor not in (None, FORMER_FACTOR):
        yield "memoryThrottlingFactor must not be set when MemoryQoS feature gate is disabled"


def check_memory(c: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    """Yield a way to protect memory that does not exist, or that asks for a gate."""
    policy = c.get("memoryReservationPolicy") or RESERVATIONS[0]
    if not is_since(gates.minor, "1.36"):
        return
    if policy == RESERVATIONS[1] and not gates.on("MemoryQoS"):
        yield f"memoryReservationPolicy {quote(policy)} requires MemoryQoS feature gate to be enabled"
    if policy not in RESERVATIONS:
        names = " or ".join(map(quote, RESERVATIONS))
        yield f"option {quote(policy)} specified for memoryReservationPolicy. Valid options are {names}"
