"""LeaderWorkerSets: one Workload for each of their groups.

Source: kueue v0.19.2 pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.base.manifests import identity_of, value_at
from trainyard.upstream.kueue.requests.annotations import NO_INDEX, Index
from trainyard.upstream.kueue.requests.jobs.parts import Made, Object, Part
from trainyard.upstream.workloads import carrier_of
from trainyard.upstream.workloads.base import number

WORKER_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
LEADER = "leader"


def leader_worker_set(value: Object, _others: Sequence[Object]) -> Iterator[Made]:
    """Yield the Workload of each group: leader and workers, or all pods of one template."""
    row = carrier_of(value)
    parts = tuple(
        Part(
            pod_set.name,
            pod_set.count,
            value_at(value, pod_set.template),
            NO_INDEX if pod_set.name == LEADER else Index(pod=WORKER_INDEX),
        )
        for pod_set in (row.pod_sets(value) if row is not None else ())
    )
    for index in range(number(value.get("spec") or {}, "replicas", 1)):
        yield Made(parts, owner=f"{identity_of(value).name}-{index}", group=True)
