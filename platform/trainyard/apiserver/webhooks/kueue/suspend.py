"""Whether a job is suspended: Kueue's webhook suspends what names a queue, until the queue has room.

A queued job is taken to wait still, as one does that was only just applied.
"""

from __future__ import annotations

from trainyard.apiserver.core.shapes import Object, child, inner
from trainyard.apiserver.webhooks.around import Review, annotations_of
from trainyard.apiserver.webhooks.kueue import labels
from trainyard.apiserver.webhooks.kueue.topology import GROUP

_STOPPING = "kueue.x-k8s.io/stopping"
_SPEC = ("spec",)
_HOLDERS = {
    **dict.fromkeys(("Job", "JobSet", "TrainJob", "AppWrapper", "RayCluster", "RayJob"), _SPEC),
    **dict.fromkeys(
        ("MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"),
        ("spec", "runPolicy"),
    ),
    "RayService": ("spec", "rayClusterConfig"),
}
"""By kind: the path of what holds the field `suspend`."""


def default(review: Review) -> bool:
    """Suspend a new job that is queued; return whether the webhook changes it in another way, not needed here."""
    if is_mutated(review):
        _suspend(review)
    return _is_gated(review) or _is_counted_on(review)


def _suspend(review: Review) -> None:
    holder = review.value
    for key in _path(review):
        holder = holder.setdefault(key, {})
        if not isinstance(holder, dict):
            return
    if holder.get("suspend") is None or holder["suspend"] is False:
        holder["suspend"] = True


def _is_gated(review: Review) -> bool:
    """Whether the webhook gates the pods of an elastic cluster."""
    return review.value.get("kind") in ("RayCluster", "RayService") and labels.elastic(review.value)


def _is_counted_on(review: Review) -> bool:
    """Whether the webhook tells the workers of an MPIJob that their launcher is the first of them."""
    specs = inner(review.spec, "mpiReplicaSpecs")
    launcher, worker = child(specs, "Launcher"), child(specs, "Worker")
    if review.spec.get("runLauncherAsWorker") is not True or launcher is None or worker is None:
        return False
    return GROUP not in inner(launcher, "template", "metadata", "annotations")


def is_mutated(review: Review) -> bool:
    """Whether the webhook changes a new job: it suspends what is queued and is not suspended."""
    written = inner(review.given or review.value, *_path(review)).get("suspend")
    return bool(labels.queue_of(review.value, review.around)) and written is not True


def before(review: Review) -> bool:
    """Whether the stored job is suspended: it says so, or it waits in a queue."""
    old = review.old or {}
    return _says(old, review) or bool(labels.queue_of(old, review.around))


def now(review: Review) -> bool:
    """Whether the job would be suspended: what the manifest leaves out stays as it is stored."""
    written = inner(review.given or review.value, *_path(review)).get("suspend")
    if written is None or (review.given is None and written is False):
        stopping = annotations_of(review.value).get(_STOPPING) == "true"
        return before(review) and not stopping
    return written is True


def _path(review: Review) -> tuple[str, ...]:
    return _HOLDERS[str(review.value.get("kind"))]


def _says(value: Object, review: Review) -> bool:
    return inner(value, *_path(review)).get("suspend") is True
