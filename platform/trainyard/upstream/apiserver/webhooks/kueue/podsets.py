"""Which pod sets Kueue makes of a job, as its webhooks look at them: those of the kind's row in `workloads`."""

from __future__ import annotations

from trainyard.upstream.apiserver.core.shapes import Object, below
from trainyard.upstream.apiserver.webhooks.around import Review
from trainyard.upstream.apiserver.webhooks.kueue.topology import PodSet
from trainyard.upstream.workloads import carrier_of

MOST = {"0.18.0": 10, "0.19.0": 18}
"""Pod sets of one Workload since a release, 8 before them (kueue v0.19.2 pkg/controller/jobframework/constants.go)."""


def most(review: Review) -> int:
    """Return how many pod sets one Workload may have in the release of Kueue that is installed."""
    return max((count for release, count in MOST.items() if review.since("kueue", release)), default=8)


def of(value: Object) -> list[PodSet]:
    """Return the pod sets of a job, in Kueue's order; none of a kind that has no templates of its own."""
    row = carrier_of(value)
    found = row.pod_sets(value) if row is not None else []
    paths = [(pod_set, (*pod_set.template, "metadata")) for pod_set in found if pod_set.counted]
    return [PodSet(pod_set.name, below(value, path), path, pod_set.count) for pod_set, path in paths]
