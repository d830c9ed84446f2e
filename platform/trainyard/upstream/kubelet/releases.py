"""The releases of Kubernetes whose kubelets are decided here, each measured against its own program."""

from __future__ import annotations

from typing import Final

MEASURED = {"1.34": "1.34.4", "1.35": "1.35.4", "1.36": "1.36.3", "1.37": "1.37.2"}
"""The release whose program was asked, by minor."""

RELEASE: Final = "1.35"
"""The minor of a case that names none."""

NARROW: Final = "1.36"
"""From here on the device manager makes hints of the NUMA nodes alone that have a device of the resource.

Before, it made them of all sets of the machine's NUMA nodes, of which eight rails on eight nodes have 2^60 combinations
(kubernetes v1.36.3 pkg/kubelet/cm/devicemanager/topology_hints.go generateDeviceTopologyHints).
"""

SKIPPED: Final = "1.37"
"""From here on the memory manager leaves containers alone that ask for no memory.

Before, it refused such a container of a pod with resources of its own where nothing aligns it (kubernetes v1.36.3
pkg/kubelet/cm/memorymanager/policy_static.go Allocate).
"""

SOCKETS: Final = "1.37"
"""From here on CPUs that are spread over NUMA nodes and aligned by socket stay in one socket where they fit.

Source: kubernetes v1.37.2 pkg/kubelet/cm/cpumanager/cpu_assignment.go takeByTopologyNUMADistributed.
"""


def minor_of(release: str) -> str:
    """Return the minor that a release is decided as: its own, the oldest that was measured, or the newest.

    >>> minor_of("1.36.2"), minor_of("1.30"), minor_of("1.99")
    ('1.36', '1.34', '1.37')
    """
    minor = ".".join(release.split(".")[:2])
    if minor in MEASURED:
        return minor
    return min(MEASURED, key=number) if number(minor) < min(map(number, MEASURED)) else max(MEASURED, key=number)


def number(minor: str) -> int:
    """Return a minor as a number: 36 for 1.36."""
    return int(minor.partition(".")[2])


def is_since(minor: str, first: str) -> bool:
    """Say whether a minor is this one or a later one."""
    return number(minor) >= number(first)
