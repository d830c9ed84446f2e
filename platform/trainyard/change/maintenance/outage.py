"""One reason for which nodes of some pools are taken out, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

from trainyard.base.manifests import value_at
from trainyard.base.quantities import whole_number

Ends = Literal["all pods", "pods with GPUs", "pods with virtual functions", "no pods"]


@dataclass(frozen=True, slots=True)
class Outage:
    """Nodes of pools that are taken out for one reason."""

    what: str
    """What they get, as in `driver of NVIDIA GPUs 580.126.20 → 595.91.07`."""
    pools: tuple[str, ...]
    nodes: int
    """Nodes of all these pools."""
    by: str
    """Who takes them out: a program, or a person."""
    how: str
    """What happens to a node, in words that follow who does it."""
    ends: Ends
    at_a_time: int | None = None
    """Nodes that are out at the same time at most; None: who does it decides."""
    seconds: int | None = None
    """Time that pods have to end; None: who does it waits without end."""
    then: str = "the node stays cordoned"
    """What happens to a node whose pods have not ended by then."""
    keeps_local: bool = False
    """Whether a pod with an emptyDir is not evicted, so that the node waits for a person."""
    budgets: bool = True
    """Whether a PodDisruptionBudget holds pods."""
    synced: bool = True
    """Whether it begins with a sync of `hardware/`."""

    @property
    def rounds(self) -> int | None:
        """How often some nodes are out until all were; None where who does it decides."""
        return None if not self.at_a_time else ceil(self.nodes / self.at_a_time)


def bounded(policy: Any, field: str, nodes: int, *, default: str | None = "25%") -> int:
    """Return the nodes that a policy allows out at the same time: in parallel, and by its bound of unavailable ones.

    None in parallel means no bound, and a share is rounded up (NVIDIA/k8s-operator-libs pkg/upgrade/upgrade_inplace.go;
    ROCm/gpu-operator v1.5.1 internal/controllers/upgrademgr.go isUpgradePolicyViolated). `field` has the second bound.
    """
    parallel = number(policy, "maxParallelUpgrades", 1)
    share = value_at(policy, (field,))
    share = default if share is None else share
    most = nodes if share is None else scaled(share, nodes)
    return min(most, nodes) if parallel == 0 else min(parallel, most, nodes)


def scaled(share: Any, nodes: int) -> int:
    """Return a number of nodes, or a percentage of them that is rounded up.

    >>> scaled("25%", 10), scaled(2, 10)
    (3, 2)
    """
    text = str(share)
    percent = whole_number(text.removesuffix("%"))
    if percent is None:
        return nodes
    return ceil(nodes * percent / 100) if text.endswith("%") else percent


def number(policy: Any, field: str, default: int) -> int:
    """Return a whole number of a policy."""
    found = value_at(policy, (field,)) if isinstance(policy, Mapping) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else default
