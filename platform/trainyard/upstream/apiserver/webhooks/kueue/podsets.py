"""Which pod sets Kueue makes of a job, as its webhooks look at them: those of the kind's row in `workloads`."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.shapes import Object, below
from trainyard.upstream.apiserver.problems import Problem, Rule
from trainyard.upstream.apiserver.webhooks.around import Review
from trainyard.upstream.apiserver.webhooks.kueue import labels
from trainyard.upstream.apiserver.webhooks.kueue.topology import PodSet
from trainyard.upstream.kueue.model.gates import RELEASE
from trainyard.upstream.kueue.model.limits import most_pod_sets
from trainyard.upstream.workloads import carrier_of, pod_sets_of

COUNT = Rule(
    "webhook/kueue-pod-sets",
    "kueue v0.19.2 apis/kueue/v1beta2/workload_types.go PodSets, pkg/controller/jobframework/constants.go",
    title="A queued job has no more pod sets than one Workload takes.",
    why="Kueue cannot create the Workload, so the job stays suspended for ever",
    fix="put roles or groups that need the same into one, or write several jobs",
)


def most(review: Review) -> int:
    """Return how many pod sets one Workload may have in the release of Kueue that is installed."""
    return most_pod_sets(review.releases.get("kueue") or RELEASE)


def check_count(review: Review) -> Iterator[Problem]:
    """Yield a queued job of whose pod sets Kueue can make no Workload; of Ray clusters its webhook says so."""
    yield from check_few(review, len([found for found, _ in pod_sets_of(review.value, ()) if found.counted]))


def check_few(review: Review, count: int) -> Iterator[Problem]:
    """Yield a number of pod sets that no Workload takes, of a job that is queued."""
    allowed = most(review)
    if count > allowed and labels.queue_of(review.value, review.around):
        yield COUNT.invalid(("spec",), review.name, f"has {count} pod sets, but a Workload takes at most {allowed}")


def of(value: Object) -> list[PodSet]:
    """Return the pod sets of a job, in Kueue's order; none of a kind that has no templates of its own."""
    row = carrier_of(value)
    found = row.pod_sets(value) if row is not None else []
    paths = [(pod_set, (*pod_set.template, "metadata")) for pod_set in found if pod_set.counted]
    return [PodSet(pod_set.name, below(value, path), path, pod_set.count) for pod_set, path in paths]
