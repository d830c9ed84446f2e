"""How many pod sets one Workload may have, which is a rule of its API types."""

from __future__ import annotations

from trainyard.base.versions import order

MOST = {"0": 8, "0.18": 10, "0.19": 18}
"""By the first release with each limit (kueue v0.16.2, v0.17.8, v0.18.6, v0.19.2 apis/kueue/v1beta2/workload_types.go).

The controller of pods counts the roles of a group by the same number (pkg/controller/jobs/pod/pod_controller.go).
"""


def most_pod_sets(release: str) -> int:
    """Return how many pod sets a Workload may have in a release of Kueue.

    >>> most_pod_sets("0.17.8"), most_pod_sets("0.18.6"), most_pod_sets("0.19.2")
    (8, 10, 18)
    """
    return max(count for first, count in MOST.items() if order(release) >= order(first))
