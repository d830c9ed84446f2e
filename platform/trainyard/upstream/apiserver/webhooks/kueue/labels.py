"""Labels and annotations by which a job speaks to Kueue: which values, and which changes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.labels import ELASTIC, QUEUE
from trainyard.upstream.apiserver.core.shapes import Object
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks import golang
from trainyard.upstream.apiserver.webhooks.around import Around, Review, annotations_of, labels_of, namespace_of
from trainyard.upstream.apiserver.webhooks.kueue import gates

JOB = Rule(
    "webhook/kueue-job",
    "kueue v0.19.2 pkg/controller/jobframework/validation.go",
    title="Kueue's labels on a job are valid, and do not change while it runs.",
    fix="use a name that exists and is valid; restore a label that may not change while the job runs",
)
GATED = Rule(
    "webhook/kueue-admission-gate",
    "kueue v0.19.2 pkg/util/webhook/validation_admissiongatedby.go",
    title="The admission gates of a job are valid names, and an update adds none.",
    fix="list each gate once as a name such as example.com/gate; an update may only remove gates",
)

PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
MAX_TIME = "kueue.x-k8s.io/max-exec-time-seconds"
PRIORITY = "kueue.x-k8s.io/priority-class"
GATED_BY = "kueue.x-k8s.io/admission-gated-by"

_GATE_BYTES = 63
_IMMUTABLE = "field is immutable"


def label_path(key: str) -> Path:
    """The path of a label of the object itself."""
    return ("metadata", "labels", key)


def annotation_path(key: str) -> Path:
    """The path of an annotation of the object itself."""
    return ("metadata", "annotations", key)


def queue_of(value: Object, around: Around) -> str:
    """The LocalQueue an object waits in, which may be the namespace's default one; empty where it waits in none."""
    queue = labels_of(value).get(QUEUE)
    if isinstance(queue, str) and queue:
        return queue
    return "default" if has_default_queue(value, around) else ""


def is_managed(value: Object, around: Around) -> bool:
    """Whether Kueue holds an object back: it waits in a queue, or those without a queue are held in its namespace."""
    return bool(queue_of(value, around)) or holds_unqueued(value, around)


def holds_unqueued(value: Object, around: Around) -> bool:
    """Whether what names no queue is held in an object's namespace; where its labels are not known, it is not."""
    return around.scope.unqueued and around.is_managed(namespace_of(value)) is True


def has_default_queue(value: Object, around: Around) -> bool:
    """Whether the object's namespace is known to have a LocalQueue that takes what names none."""
    return around.find("kueue.x-k8s.io", "LocalQueue", "default", namespace=namespace_of(value)) is not None


def elastic(value: Object) -> bool:
    """Whether the object asks to be resized while it runs."""
    return annotations_of(value).get(ELASTIC) == "true"


def resizes(review: Review) -> bool:
    """Whether Kueue treats the object as one to resize, for which it has a gate."""
    return elastic(review.value) and gates.enabled(review, "ElasticJobsViaWorkloadSlices")


def prebuilt_of(value: Object) -> tuple[str, Path]:
    """The name of a Workload made beforehand, and where it is said; an empty name where there is none."""
    annotation = annotations_of(value).get(PREBUILT)
    if annotation:
        return str(annotation), annotation_path(PREBUILT)
    return str(labels_of(value).get(PREBUILT) or ""), label_path(PREBUILT)


def check_queue_name(value: Object) -> Iterator[Problem]:
    """Yield a queue name that no LocalQueue could have; an empty one counts."""
    queue = labels_of(value).get(QUEUE)
    if queue is not None and (detail := names.dns_subdomain(queue)):
        yield JOB.invalid(label_path(QUEUE), queue, detail)


def check_prebuilt(value: Object, *, supported: bool) -> Iterator[Problem]:
    """Yield a prebuilt Workload's name that is none, or that the kind cannot take."""
    name, path = prebuilt_of(value)
    written = name or labels_of(value).get(PREBUILT)
    if written is not None and (detail := names.dns_subdomain(written)):
        yield JOB.invalid(path, written, detail)
    if name and not supported:
        yield JOB.forbidden(path, f"kind {value.get('kind')!r} takes no prebuilt workload")


def check_max_time(value: Object) -> Iterator[Problem]:
    """Yield an execution time that is no positive number of seconds."""
    written = labels_of(value).get(MAX_TIME)
    if written is None:
        return
    seconds = golang.integer(str(written))
    if seconds is None:
        yield JOB.invalid(label_path(MAX_TIME), written, "must be a number of seconds")
    elif seconds <= 0:
        yield JOB.invalid(label_path(MAX_TIME), written, "must be greater than 0")


def check_elastic(value: Object, *, supported: bool) -> Iterator[Problem]:
    """Yield the wish to be elastic of a kind that cannot be."""
    if elastic(value) and not supported:
        yield JOB.forbidden(annotation_path(ELASTIC), f"kind {value.get('kind')!r} cannot be an elastic job")


def check_gates(review: Review) -> Iterator[Problem]:
    """Yield admission gates that are empty, twice there, or no `domain/path` of at most 63 bytes.

    Without the gate AdmissionGatedBy, which is off before 0.19, nobody reads them.
    """
    if not gates.enabled(review, "AdmissionGatedBy"):
        return
    written = str(annotations_of(review.value).get(GATED_BY) or "")
    path = annotation_path(GATED_BY)
    seen: set[str] = set()
    for gate in _gates(written):
        if not gate:
            yield GATED.invalid(path, written, "cannot contain empty gate names")
        elif gate in seen:
            yield GATED.duplicate(path, gate)
        else:
            seen.add(gate)
            if detail := names.domain_prefixed_path(gate):
                yield GATED.invalid(path, gate, detail)
            if names.size(gate) > _GATE_BYTES:
                yield GATED.too_long(path, _GATE_BYTES)


def check_gates_kept(review: Review) -> Iterator[Problem]:
    """Yield gates added after creation; they may only be taken away."""
    if review.old is None or not gates.enabled(review, "AdmissionGatedBy"):
        return
    before = str(annotations_of(review.old).get(GATED_BY) or "")
    now = str(annotations_of(review.value).get(GATED_BY) or "")
    if now and not before:
        yield GATED.forbidden(annotation_path(GATED_BY), "cannot add an admission gate after creation")
    elif now and set(_gates(now)) - set(_gates(before)):
        yield GATED.forbidden(annotation_path(GATED_BY), "gates can only be removed")


def check_priority_kept(review: Review, *, suspended: bool) -> Iterator[Problem]:
    """Yield a WorkloadPriorityClass that is removed, or added to what runs."""
    before = labels_of(review.old or {}).get(PRIORITY)
    now = labels_of(review.value).get(PRIORITY)
    if now and not before and not suspended:
        yield JOB.invalid(label_path(PRIORITY), now, "cannot be added while it is not suspended")
    if before and not now:
        yield JOB.invalid(label_path(PRIORITY), "", "cannot be removed")


def check_label_kept(review: Review, key: str) -> Iterator[Problem]:
    """Yield a label whose value changed."""
    now = labels_of(review.value).get(key) or ""
    if now != (labels_of(review.old or {}).get(key) or ""):
        yield JOB.invalid(label_path(key), now, _IMMUTABLE)


def check_queue_kept(review: Review, *, suspended: bool) -> Iterator[Problem]:
    """Yield another queue for what runs, and none where the namespace has a default queue."""
    if not suspended:
        yield from check_label_kept(review, QUEUE)
    before = labels_of(review.old or {}).get(QUEUE)
    if before and not labels_of(review.value).get(QUEUE) and has_default_queue(review.value, review.around):
        yield JOB.invalid(label_path(QUEUE), "", "must not be empty in a namespace with a default queue")


def _gates(written: str) -> list[str]:
    return [gate.strip() for gate in written.split(",")] if written.strip() else []
