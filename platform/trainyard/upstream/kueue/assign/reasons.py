"""Why a Workload gets no quota, in Kueue's codes, from the mildest to the most severe (flavorassigner.go)."""

from __future__ import annotations

TOPOLOGY, WAITING, EXCEEDS, NO_FLAVOR = (
    "TopologyPlacementFailed",
    "WaitingForQuota",
    "ExceedsMaxQuota",
    "NoMatchingFlavor",
)
SEVERITY = {reason: number for number, reason in enumerate((TOPOLOGY, WAITING, EXCEEDS, NO_FLAVOR), start=1)}


def severity(reason: str) -> int:
    """Return how severe a reason is; none is the mildest."""
    return SEVERITY.get(reason, 0)


def worse(left: str, right: str) -> str:
    """Return the more severe reason, the left one of two alike."""
    return left if severity(left) >= severity(right) else right
