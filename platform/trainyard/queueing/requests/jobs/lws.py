"""LeaderWorkerSets: one Workload for each of their groups.

Source: kueue v0.19.2 pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.carriers import carrier_of
from trainyard.carriers.base import number
from trainyard.manifests import identity_of, value_at
from trainyard.queueing.requests.annotations import NO_INDEX, Index
from trainyard.queueing.requests.jobs.parts import Made, Object, Part

WORKER_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
LEADER = "leader"


def leader_worker_set(value: Object, _others: Sequence[Object]) -> Iterator[Made]:
    """Yield the Workload of each group: leader and workers, or all pods of one template."""
    row = carrier_of(value)
    parts = tuple(
        Part(
            each.name,
            each.count,
            value_at(value, each.template),
            NO_INDEX if each.name == LEADER else Index(pod=WORKER_INDEX),
        )
        for each in (row.pod_sets(value) if row is not None else ())
    )
    for index in range(number(value.get("spec") or {}, "replicas", 1)):
        yield Made(parts, owner=f"{identity_of(value).name}-{index}", group=True)
