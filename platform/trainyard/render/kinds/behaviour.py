"""How runs of a kind go on when something happens to them: what a change of kind changes beside the objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

EVENTS: Mapping[str, str] = {
    "fails": "a rank fails",
    "drained": "a node is drained, or the run is preempted",
    "counts": "counts as one restart",
    "done": "the run is done when",
    "late": "after maxHours",
    "unready": "pods do not become ready",
    "order": "ranks are placed",
    "faulty": "a GPU fails, and its node gets a taint",
}
"""What is said of every kind, by the field of `Behaviour`."""

QUEUED_AGAIN = "after 30 minutes Kueue takes the quota back and queues the run again"

ONE_IS_ENOUGH = "Kueue counts the run as ready when its chief, Master or any one pod runs; the others may stay pending"
"""Of kinds that Kueue takes for ready by their own condition Running, which the first pod that runs is enough for.

That is the chief's or the Master's, else any worker's (kueue v0.19.2 pkg/controller/jobs/kubeflow/kubeflowjob;
training-operator v1.9.4, UpdateJobStatus of each kind).
"""

BY_INDEX = "in the order of the topology"
ANYHOW = "in any order on the nodes that Kueue chose, because Kueue does not know the pods' index"
"""Whether Kueue hands a topology out in the order of ranks: it knows a label with the index of a kind's pods.

kueue v0.19.2 pkg/controller/jobs, PodIndexLabel: of Job, JobSet, MPIJob, Kubeflow's and LeaderWorkerSet, not of Ray.
"""


MOVES = "the pod fails with the rank, and the run starts again on another node"
STAYS = "the container restarts on that node until somebody drains it or the restarts are used up"
SERVES = "its ranks start again on that node until somebody drains it or the restarts are used up"
"""Whether a run leaves a node with the taint `NoSchedule`: only where its pod ends with its rank.

Kueue replaces a node when the pods there have ended (kueue v0.19.2 pkg/controller/tas/node_controller.go; asked of a
real cluster, docs/lost-nodes.md). With `NoExecute` every pod ends.
"""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a kind does, each field an answer to one of `EVENTS`; the same words mean the same."""

    fails: str
    drained: str
    counts: str
    done: str
    late: str = "the run fails"
    unready: str = QUEUED_AGAIN
    order: str = BY_INDEX
    faulty: str = MOVES

    def answers(self) -> Iterator[tuple[str, str]]:
        """Yield question and answer."""
        for field in fields(self):
            yield EVENTS[field.name], getattr(self, field.name)
