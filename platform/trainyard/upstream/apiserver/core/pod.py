"""Pods: what admission decides of them, and what an update may change.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidatePodCreate, ValidatePodUpdate, and the
admission plugins Priority and RuntimeClass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core.equality import differs
from trainyard.upstream.apiserver.core.pods.containers import check_images
from trainyard.upstream.apiserver.core.pods.defaults import set_pod
from trainyard.upstream.apiserver.core.pods.gates import drop_disabled
from trainyard.upstream.apiserver.core.pods.options import keep_options, options_of
from trainyard.upstream.apiserver.core.pods.rules import CORE, POD
from trainyard.upstream.apiserver.core.pods.spec import check_spec
from trainyard.upstream.apiserver.core.pods.template import MIRROR, check_pod_annotations
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, count, each, inner, number, text
from trainyard.upstream.apiserver.problems import Problem, Rule

IMMUTABLE = Rule(
    "update/pod",
    f"{CORE} ValidatePodUpdate",
    title="An update of a Pod changes only the fields that Kubernetes lets change.",
    fix="restore the field, or delete the Pod and create it again",
)
PRIORITY = Rule(
    "core/pod-priority",
    "k8s.io/kubernetes v1.35.4 plugin/pkg/admission/priority/admission.go",
    title="A pod takes its priority and preemption policy from its PriorityClass.",
    fix="remove priority and preemptionPolicy, or use the values of the class",
)
OVERHEAD = Rule(
    "core/pod-overhead",
    "k8s.io/kubernetes v1.35.4 plugin/pkg/admission/runtimeclass/admission.go",
    title="A pod takes its overhead from its RuntimeClass.",
    fix="remove overhead",
)

_SYSTEM_CLASSES = {"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}
_UPDATABLE = frozenset(
    {"containers", "initContainers", "activeDeadlineSeconds", "tolerations", "schedulingGates", "nodeSelector",
     "affinity", "terminationGracePeriodSeconds", "serviceAccount", "serviceAccountName", "priority",
     "preemptionPolicy"}
)  # fmt: skip
"""Fields with a rule of their own."""


def default(value: Object, minor: int) -> None:
    """Default a Pod."""
    set_pod(value, minor)
    if (spec := child(value, "spec")) is not None:
        drop_disabled(spec, minor)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a Pod, and changes that an update may not make."""
    meta, spec = child(value, "metadata") or EMPTY, child(value, "spec") or EMPTY
    options = replace(options_of(minor(kubernetes), is_pod=True), labels=frozenset(inner(meta, "labels")))
    if old is not None:
        options = keep_options(options, inner(old, "spec"))
    yield from check_pod_annotations(meta, spec, ())
    yield from check_spec(spec, ("spec",), options, pod_name=text(meta, "name") or None)
    yield from check_images(spec, ("spec",))
    if count(spec, "ephemeralContainers") and old is None:
        yield POD.forbidden(("spec", "ephemeralContainers"), "cannot be set on create")
    if spec.get("nodeName") and count(spec, "schedulingGates"):
        yield POD.forbidden(("spec", "nodeName"), "cannot be set until all schedulingGates have been cleared")
    if MIRROR in inner(meta, "annotations") and count(spec, "resourceClaims"):
        yield POD.forbidden(("spec", "resourceClaims"), "static pods do not support resource claims")
    if old is None:
        yield from _check_admission(spec)
    else:
        yield from _check_update(spec, inner(old, "spec"))


def _check_admission(spec: Object) -> Iterator[Problem]:
    """Judge what admission computes itself: priorities of classes that exist everywhere, and overhead."""
    name, priority = text(spec, "priorityClassName"), number(spec, "priority")
    if priority is not None and (not name or name in _SYSTEM_CLASSES):
        right = _SYSTEM_CLASSES.get(name, 0)
        if priority != right:
            yield PRIORITY.forbidden(("spec", "priority"), f"is computed from priorityClassName and would be {right}")
    policy = spec.get("preemptionPolicy")
    if policy not in (None, "PreemptLowerPriority") and (not name or name in _SYSTEM_CLASSES):
        detail = "is computed from priorityClassName and would be PreemptLowerPriority"
        yield PRIORITY.forbidden(("spec", "preemptionPolicy"), detail)
    if child(spec, "overhead") is not None and not spec.get("runtimeClassName"):
        yield OVERHEAD.forbidden(("spec", "overhead"), "is set from a RuntimeClass, and none is named")


def _check_update(spec: Object, before: Object) -> Iterator[Problem]:
    for field in ("containers", "initContainers"):
        mine, theirs = each(spec, field), each(before, field)
        if len(mine) != len(theirs):
            yield IMMUTABLE.forbidden(("spec", field), "pod updates may not add or remove containers")
            continue
        for (index, container), (_, other) in zip(mine, theirs, strict=True):
            for key in sorted({*container, *other} - {"image"}, key=str):
                if differs(container.get(key), other.get(key), key):
                    yield IMMUTABLE.forbidden(("spec", field, index, key), "only the image may be changed")
    for field in sorted({*spec, *before} - _UPDATABLE, key=str):
        if differs(spec.get(field), before.get(field), field):
            yield IMMUTABLE.forbidden(("spec", field), "pod updates may not change it")
    yield from _check_assigned(spec, before)
    yield from _check_deadline(spec, before)
    yield from _check_placement(spec, before)


def _check_assigned(spec: Object, before: Object) -> Iterator[Problem]:
    """Yield a change of what admission fills in where nobody says it: account, priority, preemption."""
    account = text(before, "serviceAccountName") or text(before, "serviceAccount") or "default"
    now = text(spec, "serviceAccountName") or text(spec, "serviceAccount") or account
    if now != account:
        yield IMMUTABLE.forbidden(("spec", "serviceAccountName"), "pod updates may not change it")
    name, usual = text(before, "priorityClassName"), {}
    if not name or name in _SYSTEM_CLASSES:
        usual = {"priority": _SYSTEM_CLASSES.get(name, 0), "preemptionPolicy": "PreemptLowerPriority"}
    for field in ("priority", "preemptionPolicy"):
        was = usual.get(field) if before.get(field) is None else before[field]
        if spec.get(field) is not None and was is not None and spec[field] != was:
            yield IMMUTABLE.forbidden(("spec", field), "pod updates may not change it")


def _check_deadline(spec: Object, before: Object) -> Iterator[Problem]:
    now, was = number(spec, "activeDeadlineSeconds"), number(before, "activeDeadlineSeconds")
    path = ("spec", "activeDeadlineSeconds")
    if was is not None and now is None:
        yield IMMUTABLE.invalid(path, now, "must not be removed once set")
    elif was is not None and now is not None and now > was:
        yield IMMUTABLE.invalid(path, now, "must be less than or equal to the previous value")
    grace, previous = number(spec, "terminationGracePeriodSeconds"), number(before, "terminationGracePeriodSeconds")
    if grace != previous and not (grace == 1 and previous is not None and previous < 0):
        yield IMMUTABLE.forbidden(("spec", "terminationGracePeriodSeconds"), "pod updates may not change it")


def _check_placement(spec: Object, before: Object) -> Iterator[Problem]:
    mine = [entry for _, entry in each(spec, "tolerations")]
    for _, old in each(before, "tolerations"):
        if not any(_same_toleration(entry, old) for entry in mine):
            detail = "an existing toleration may only change its tolerationSeconds"
            yield IMMUTABLE.forbidden(("spec", "tolerations"), detail)
    gates = {text(gate, "name") for _, gate in each(before, "schedulingGates")}
    for index, gate in each(spec, "schedulingGates"):
        if text(gate, "name") not in gates:
            yield IMMUTABLE.forbidden(("spec", "schedulingGates", index, "name"), "only deletion is allowed")
    if not gates:
        for field in ("nodeSelector", "affinity"):
            if differs(spec.get(field), before.get(field), field):
                yield IMMUTABLE.forbidden(("spec", field), "may only change while the pod has scheduling gates")
        return
    selector = inner(spec, "nodeSelector")
    if any(selector.get(key) != value for key, value in inner(before, "nodeSelector").items()):
        yield IMMUTABLE.invalid(("spec", "nodeSelector"), selector, "only additions are allowed")
    yield from _check_affinity(inner(spec, "affinity"), inner(before, "affinity"))


def _check_affinity(now: Object, was: Object) -> Iterator[Problem]:
    """Yield the problems with a changed affinity of a pod with scheduling gates: terms may only be narrowed."""
    path = ("spec", "affinity")
    for field in ("podAffinity", "podAntiAffinity"):
        if differs(now.get(field), was.get(field), field):
            yield IMMUTABLE.forbidden((*path, field), "pod updates may not change it")
    node, terms = "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"
    olds = [term for _, term in each(inner(was, "nodeAffinity", node), terms)]
    news = [term for _, term in each(inner(now, "nodeAffinity", node), terms)]
    at = (*path, "nodeAffinity", node, terms)
    if olds and len(news) != len(olds):
        yield IMMUTABLE.invalid(at, len(news), "terms may not be added or removed")
        return
    for index, (old, new) in enumerate(zip(olds, news, strict=False)):
        if not _narrows(new, old):
            yield IMMUTABLE.invalid((*at, index), new, "only additions are allowed")


def _narrows(new: Object, old: Object) -> bool:
    fields = ("matchExpressions", "matchFields")
    if not any(count(old, field) for field in fields):
        return not any(count(new, field) for field in fields)
    starts = ((entries(new, field)[: count(old, field)], entries(old, field)) for field in fields)
    return not any(differs(now, was) for now, was in starts)


def entries(term: Object, field: str) -> list[Object]:
    """The requirements of a term."""
    return [entry for _, entry in each(term, field)]


def _same_toleration(entry: Object, old: Object) -> bool:
    fields = ("key", "operator", "value", "effect")
    return all((entry.get(field) or "") == (old.get(field) or "") for field in fields)
