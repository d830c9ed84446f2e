"""Whether a job is suspended: Kueue's webhook suspends what names a queue, until the queue has room.

As it is configured, it suspends what names none too. A queued job is taken to wait still, as one that was only just
applied does.
"""

from __future__ import annotations

from typing import Any

from trainyard.base.manifests import value_at
from trainyard.upstream.apiserver.core.shapes import child, inner
from trainyard.upstream.apiserver.problems import Path
from trainyard.upstream.apiserver.webhooks.around import Review, annotations_of
from trainyard.upstream.apiserver.webhooks.kueue import gates, labels
from trainyard.upstream.apiserver.webhooks.kueue.topology import GROUP
from trainyard.upstream.workloads import carrier_of

_STOPPING = "kueue.x-k8s.io/stopping"


def default(review: Review) -> bool:
    """Suspend a new job that is queued; return whether the webhook changes it in another way, not needed here."""
    if is_mutated(review):
        _suspend(review)
    return _is_gated(review) or _is_counted_on(review)


def _suspend(review: Review) -> None:
    holder: Any = review.value
    *path, field = _path(review)
    for key in path:
        holder = holder.setdefault(key, {})
        if not isinstance(holder, dict):
            return
    if holder.get(field) is None or holder[field] is False:
        holder[field] = True


def _is_gated(review: Review) -> bool:
    """Whether the webhook gates the pods of an elastic cluster."""
    return review.value.get("kind") in ("RayCluster", "RayService") and labels.resizes(review)


def _is_counted_on(review: Review) -> bool:
    """Whether the webhook tells the workers of an MPIJob that their launcher is the first of them."""
    specs = inner(review.spec, "mpiReplicaSpecs")
    launcher, worker = child(specs, "Launcher"), child(specs, "Worker")
    if review.spec.get("runLauncherAsWorker") is not True or launcher is None or worker is None:
        return False
    if not gates.enabled(review, "TopologyAwareScheduling"):
        return False
    return GROUP not in inner(launcher, "template", "metadata", "annotations")


def is_mutated(review: Review) -> bool:
    """Whether the webhook changes a new job: it suspends what is queued and is not suspended."""
    written = value_at(review.given or review.value, _path(review))
    return labels.is_managed(review.value, review.around) and written is not True


def before(review: Review) -> bool:
    """Whether the stored job is suspended: it says so, or it waits in a queue."""
    old = review.old or {}
    return value_at(old, _path(review)) is True or labels.is_managed(old, review.around)


def now(review: Review) -> bool:
    """Whether the job would be suspended: what the manifest leaves out stays as it is stored."""
    written = value_at(review.given or review.value, _path(review))
    if written is None or (review.given is None and written is False):
        stopping = annotations_of(review.value).get(_STOPPING) == "true"
        return before(review) and not stopping
    return written is True


def _path(review: Review) -> Path:
    """The path of the field that holds an object suspended."""
    row = carrier_of(review.value)
    if row is None or row.suspend is None:
        raise LookupError(f"no carrier says what holds {review.value.get('kind')} suspended")
    return row.suspend
