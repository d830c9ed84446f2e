"""ClusterQueue, Cohort, ResourceFlavor and Workload: what Kueue's own webhooks refuse, as problems of the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Problem, Rule
from trainyard.upstream.apiserver.webhooks.around import Review
from trainyard.upstream.apiserver.webhooks.kueue import gates, labels
from trainyard.upstream.kueue.webhooks import Fault, cluster_queue_faults, cohort_faults, flavor_faults, workload_faults
from trainyard.upstream.kueue.webhooks.labels import MOST_OF_ANNOTATIONS

QUEUE = Rule(
    "webhook/cluster-queue",
    "kueue v0.19.2 pkg/webhooks/clusterqueue_webhook.go",
    title="A ClusterQueue passes the checks of Kueue's webhook.",
    fix="list each resource and flavor once; set limits only in a cohort",
)
COHORT = Rule(
    "webhook/cohort",
    "kueue v0.19.2 pkg/webhooks/cohort_webhook.go",
    title="A Cohort passes the checks of Kueue's webhook.",
    fix="list each resource and flavor once; name another Cohort as parentName",
)
FLAVOR = Rule(
    "webhook/resource-flavor",
    "kueue v0.19.2 pkg/webhooks/resourceflavor_webhook.go",
    title="A ResourceFlavor passes the checks of Kueue's webhook.",
    fix="give each taint a key and an effect; use valid label keys and values",
)
WORKLOAD = Rule(
    "webhook/workload",
    "kueue v0.19.2 pkg/webhooks/workload_webhook.go",
    title="A Workload passes the checks of Kueue's webhook.",
    fix="use counts within the limits that the message gives; restore fields that may not change after admission",
)

FINALIZER = "kueue.x-k8s.io/resource-in-use"
OF_LABELS = {"key": names.NOT_KEY, "label": names.NOT_VALUE}
PLAIN = {
    "must be nil when cohort is empty": "must be left out when cohort is empty",
    "must be nil when parent is empty": "must be left out when parent is empty",
    "When not 0, weight must be > 10e-9": "must be 0 or more than a billionth",
}
"""Words of upstream, and plainer ones."""


def default(review: Review) -> None:
    """Add the finalizer that keeps a new ClusterQueue or ResourceFlavor while it is used."""
    metadata = review.value.get("metadata")
    if isinstance(metadata, dict):
        finalizers = metadata.get("finalizers") or []
        if isinstance(finalizers, list) and FINALIZER not in finalizers:
            metadata["finalizers"] = [*finalizers, FINALIZER]


def check_cluster_queue(review: Review) -> Iterator[Problem]:
    """Yield the problems with a ClusterQueue."""
    yield from problems(cluster_queue_faults(review.value, review.old), QUEUE)
    if review.old is not None:
        policy = "concurrentAdmissionPolicy"
        yield from check_immutable(review.spec.get(policy), review.old_spec.get(policy), ("spec", policy), QUEUE)


def check_cohort(review: Review) -> Iterator[Problem]:
    """Yield the problems with a Cohort."""
    yield from problems(cohort_faults(review.value), COHORT)


def check_flavor(review: Review) -> Iterator[Problem]:
    """Yield the problems with a ResourceFlavor."""
    yield from problems(flavor_faults(review.value), FLAVOR)


def check_workload(review: Review) -> Iterator[Problem]:
    """Yield the problems with a Workload that somebody writes by hand; its status is another endpoint's business."""
    yield from problems(workload_faults(review.value, gates.of(review)), WORKLOAD)
    yield from labels.check_gates(review)
    yield from labels.check_gates_kept(review)


def problems(faults: Iterable[Fault], rule: Rule) -> Iterator[Problem]:
    """Yield the problems that faults are, one for all that is wrong with a label's key or value."""
    yield from dict.fromkeys(problem(fault, rule) for fault in faults)


def problem(fault: Fault, rule: Rule) -> Problem:
    """Return a fault in the words of the verdict."""
    path, detail = fault.path, PLAIN.get(fault.detail, fault.detail)
    match fault.form:
        case "required":
            return rule.required(path, detail)
        case "forbidden":
            return rule.forbidden(path, detail)
        case "too long":
            return rule.too_long(path, MOST_OF_ANNOTATIONS)
        case "unsupported":
            return rule.unsupported(path, fault.value, fault.choices)
        case "duplicate":
            return rule.invalid(path, fault.value, detail) if detail else rule.duplicate(path, fault.value)
        case "key" | "label":
            return rule.invalid(path, fault.value, OF_LABELS[fault.form])
        case "invalid":
            return rule.invalid(path, fault.value, detail)
