"""Which pod sets Kueue makes of a job, as its webhooks look at them: those of the kind's row among the carriers."""

from __future__ import annotations

from trainyard.apiserver.core.shapes import Object, below
from trainyard.apiserver.webhooks.kueue.topology import PodSet
from trainyard.carriers import carrier_of

MAX = 18
"""Pod sets of one Workload (kueue v0.19.2 pkg/controller/jobframework/constants.go)."""


def of(value: Object) -> list[PodSet]:
    """Return the pod sets of a job, in Kueue's order; none of a kind that has no templates of its own."""
    row = carrier_of(value)
    found = row.pod_sets(value) if row is not None else []
    paths = [(each, (*each.template, "metadata")) for each in found if each.counted]
    return [PodSet(each.name, below(value, path), path, each.count) for each, path in paths]
