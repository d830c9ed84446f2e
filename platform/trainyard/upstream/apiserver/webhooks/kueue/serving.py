"""Deployments, StatefulSets, LeaderWorkerSets and single Pods that Kueue queues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import ELASTIC, QUEUE
from trainyard.upstream.apiserver.core.equality import differs
from trainyard.upstream.apiserver.core.shapes import Object, child, each, inner, number
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks import golang
from trainyard.upstream.apiserver.webhooks.around import Review, annotations_of, labels_of
from trainyard.upstream.apiserver.webhooks.kueue import gates, labels, podsets, topology

STATEFUL = Rule(
    "webhook/kueue-stateful-set",
    "kueue v0.19.2 pkg/controller/jobs/statefulset/statefulset_webhook.go",
    title="In a queue, a StatefulSet keeps its containers, requests, ports and placement.",
    fix="restore the field; spec.replicas may change to and from 0 only",
)
LWS = Rule(
    "webhook/kueue-lws",
    "kueue v0.19.2 pkg/controller/jobs/leaderworkerset/leaderworkerset_webhook.go",
    title="In a queue, a LeaderWorkerSet keeps its size, containers, requests, ports and placement.",
    fix="restore the old value; for another one, delete the LeaderWorkerSet and create it again",
)
POD = Rule(
    "webhook/kueue-pod",
    "kueue v0.19.2 pkg/controller/jobs/pod/pod_webhook.go",
    title="The pod group labels and annotations of a queued pod are valid and belong together.",
    fix="set both the group's name and its total count, and never change the name",
)

_PARENT = "kueue.x-k8s.io/pod-suspending-parent"
_GROUP = "kueue.x-k8s.io/pod-group-name"
_TOTAL = "kueue.x-k8s.io/pod-group-total-count"
_GATE = "kueue.x-k8s.io/admission"
_MANAGED = "kueue.x-k8s.io/managed"
_RETRIABLE = "kueue.x-k8s.io/retriable-in-group"
_MOST_REPLICAS = 1_000_000
_SHAPE = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "runtimeClassName",
    "priority",
    "topologySpreadConstraints",
    "overhead",
    "resourceClaims",
)
"""Fields of a pod that decide where it fits (kueue v0.19.2 pkg/util/pod/pod.go SpecShape)."""


def check_deployment(review: Review) -> Iterator[Problem]:
    """Yield the problems with a Deployment; once queued it stays queued."""
    yield from _check_labels(review)
    if review.old is not None:
        yield from _check_kept(review)


def check_stateful_set(review: Review) -> Iterator[Problem]:
    """Yield the problems with a StatefulSet; a queued one keeps its pods' shape and number."""
    parent = inner(review.spec, "template", "metadata", "annotations").get(_PARENT)
    if parent is not None and parent != "statefulset":
        return
    yield from _check_labels(review)
    if review.old is None:
        return
    yield from _check_kept(review)
    if not labels.is_managed(review.value, review.around):
        return
    now, before = inner(review.spec, "template", "spec"), inner(review.old_spec, "template", "spec")
    yield from _check_shape(now, before, ("spec", "template", "spec"), STATEFUL)
    replicas, old_replicas = _replicas(review.spec), _replicas(review.old_spec)
    if replicas and old_replicas and replicas != old_replicas:
        yield STATEFUL.invalid(("spec", "replicas"), replicas, "field is immutable, except to and from 0")


def check_lws(review: Review) -> Iterator[Problem]:
    """Yield the problems with a LeaderWorkerSet; a queued one keeps its pods' shape and its group's size."""
    yield from _check_labels(review)
    if _replicas(review.spec) > _MOST_REPLICAS:
        yield LWS.invalid(("spec", "replicas"), review.spec["replicas"], f"must be at most {_MOST_REPLICAS}")
    yield from topology.check_pod_sets(podsets.of(review.value), review, grouped=True)
    if review.old is None:
        return
    yield from _check_kept(review)
    if not labels.is_managed(review.value, review.around):
        return
    now, before = inner(review.spec, "leaderWorkerTemplate"), inner(review.old_spec, "leaderWorkerTemplate")
    at: Path = ("spec", "leaderWorkerTemplate")
    for part in ("leaderTemplate", "workerTemplate"):
        new, old = child(now, part), child(before, part)
        if (new is None) != (old is None):
            yield LWS.invalid((*at, part), new, "field is immutable")
        elif new is not None and old is not None:
            yield from _check_shape(inner(new, "spec"), inner(old, "spec"), (*at, part, "spec"), LWS)
    kept = gates.enabled(review, "LWSImmutableGroupSize")
    if kept and (number(now, "size") or 1) != (number(before, "size") or 1):
        yield LWS.invalid((*at, "size"), now.get("size"), "field is immutable")


def default_lws(review: Review) -> bool:
    """Say whether the webhook marks the templates of a new LeaderWorkerSet, as it does of one that is queued."""
    return labels.is_managed(review.value, review.around)


def default_pod(review: Review) -> None:
    """Gate a new Pod that waits in a queue, or whose owner does, and mark it as managed."""
    value = review.value
    metadata, spec = value.get("metadata"), child(value, "spec")
    parent, managed = _PARENT in annotations_of(value), labels.is_managed(value, review.around)
    if spec is None or not isinstance(metadata, dict) or not (parent or managed):
        return
    if not parent:
        metadata["labels"] = {**labels_of(value), _MANAGED: "true"}
    held = spec.get("schedulingGates") or []
    if isinstance(held, list) and _GATE not in [gate.get("name") for gate in held if isinstance(gate, dict)]:
        spec["schedulingGates"] = [*held, {"name": _GATE}]


def check_pod(review: Review) -> Iterator[Problem]:
    """Yield the problems with a Pod of its own, or of a group of Pods."""
    value = review.value
    found = annotations_of(value)
    if review.old is None:
        yield from labels.check_queue_name(value)
        yield from labels.check_max_time(value)
        yield from labels.check_elastic(value, supported=False)
        yield from labels.check_gates(review)
        yield from labels.check_prebuilt(value, supported=True)
    else:
        yield from _check_pod_update(review)
    if (managed := labels_of(value).get(_MANAGED)) not in (None, "true"):
        yield POD.forbidden(labels.label_path(_MANAGED), f"can only be 'true', not {managed!r}")
    group, path = _group_of(value)
    if group:
        if detail := names.dns_subdomain(group):
            yield POD.invalid(path, group, detail)
        if _TOTAL not in found:
            yield POD.required(labels.annotation_path(_TOTAL), f"set both {_GROUP} and {_TOTAL}, or neither")
        elif (golang.integer(str(found[_TOTAL])) or 0) < 1:
            yield POD.invalid(labels.annotation_path(_TOTAL), found[_TOTAL], "must be a number greater than 0")
    elif _TOTAL in found:
        yield POD.required(path, f"set both {_GROUP} and {_TOTAL}, or neither")
    pods = topology.PodSet("main", inner(value, "metadata"), ("metadata",))
    yield from topology.check_pod_sets([pods], review, grouped=False)
    prebuilt, where = labels.prebuilt_of(value)
    if group and prebuilt and group != prebuilt:
        yield POD.invalid(where, prebuilt, "must be the name of the pod group")


def _check_pod_update(review: Review) -> Iterator[Problem]:
    """A Pod in a queue is gated while it waits, and is taken to wait."""
    old = review.old or {}
    suspended = labels.is_managed(old, review.around) or _GATE in {
        gate.get("name") for _, gate in each(inner(old, "spec"), "schedulingGates")
    }
    yield from labels.check_queue_kept(review, suspended=suspended)
    if suspended or labels.elastic(old):
        yield from labels.check_prebuilt(review.value, supported=True)
    if not suspended:
        yield from labels.check_label_kept(review, labels.MAX_TIME)
        if labels.prebuilt_of(review.value)[0] != labels.prebuilt_of(old)[0]:
            name, path = labels.prebuilt_of(review.value)
            yield labels.JOB.invalid(path, name, "field is immutable")
    yield from labels.check_priority_kept(review, suspended=suspended)
    if labels.elastic(old) != labels.elastic(review.value):
        yield labels.JOB.invalid(labels.annotation_path(ELASTIC), None, "field is immutable")
    yield from labels.check_gates_kept(review)
    yield from labels.check_gates(review)
    before, (group, path) = _group_of(old)[0], _group_of(review.value)
    if before and group != before:
        yield POD.invalid(path, group, "field is immutable")
    final = annotations_of(old).get(_RETRIABLE) == "false"
    if group and final and annotations_of(review.value).get(_RETRIABLE) != "false":
        yield POD.forbidden(labels.annotation_path(_RETRIABLE), "a group that is not retried cannot become one that is")


def _group_of(value: Object) -> tuple[str, Path]:
    annotation = annotations_of(value).get(_GROUP)
    if annotation:
        return str(annotation), labels.annotation_path(_GROUP)
    return str(labels_of(value).get(_GROUP) or ""), labels.label_path(_GROUP)


def _check_labels(review: Review) -> Iterator[Problem]:
    yield from labels.check_queue_name(review.value)
    yield from labels.check_elastic(review.value, supported=False)
    yield from labels.check_gates(review)


def _check_kept(review: Review) -> Iterator[Problem]:
    """No pod is taken to be ready, as in a manifest that was never applied; a queue can then change, but not go."""
    if not labels_of(review.value).get(QUEUE):
        yield from labels.check_label_kept(review, QUEUE)
    yield from labels.check_priority_kept(review, suspended=True)
    yield from labels.check_gates_kept(review)


def _replicas(spec: Object) -> int:
    replicas = number(spec, "replicas")
    return 1 if replicas is None else replicas


def _check_shape(now: Object, before: Object, path: Path, rule: Rule) -> Iterator[Problem]:
    """What decides where pods fit may not change: requests, ports and the fields of `_SHAPE`."""
    for field in _SHAPE:
        if differs(now.get(field), before.get(field), field):
            yield rule.invalid((*path, field), now.get(field), "field is immutable")
    if differs(inner(now, "resources", "requests"), inner(before, "resources", "requests"), "requests"):
        yield rule.invalid((*path, "resources"), now.get("resources"), "field is immutable")
    for kind in ("initContainers", "containers"):
        new, old = each(now, kind), each(before, kind)
        if len(new) != len(old):
            yield rule.invalid((*path, kind), len(new), "containers can be neither added nor removed")
            continue
        for (index, container), (_, other) in zip(new, old, strict=True):
            if _differ(container, other):
                yield rule.invalid((*path, kind, index), container.get("name"), "requests and ports are immutable")


def _differ(container: Object, other: Object) -> bool:
    requests: Any = inner(container, "resources", "requests")
    return differs(requests, inner(other, "resources", "requests"), "requests") or differs(
        container.get("ports"), other.get("ports"), "ports"
    )
