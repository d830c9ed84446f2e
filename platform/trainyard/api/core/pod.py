"""Pods and PodTemplates as objects of their own.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidatePodCreate, ValidatePodUpdate, and the
admission plugins Priority and RuntimeClass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.api.core.defaulting.pods import pull_policy
from trainyard.api.core.equality import differs
from trainyard.api.core.pods.containers import check_images
from trainyard.api.core.pods.options import kept, options_of
from trainyard.api.core.pods.rules import CORE, POD
from trainyard.api.core.pods.spec import check_spec
from trainyard.api.core.pods.template import MIRROR, check_pod_annotations, check_template
from trainyard.api.core.shapes import EMPTY, Object, child, count, each, inner, number, text
from trainyard.api.metadata import minor
from trainyard.api.problems import Problem, Rule

IMMUTABLE = Rule("update/pod", f"{CORE} ValidatePodUpdate")
PRIORITY = Rule("core/pod-priority", "k8s.io/kubernetes v1.35.4 plugin/pkg/admission/priority/admission.go")
OVERHEAD = Rule("core/pod-overhead", "k8s.io/kubernetes v1.35.4 plugin/pkg/admission/runtimeclass/admission.go")
TOKEN = Rule("core/pod", f"{CORE} validatePodMetadataAndSpec")

_SYSTEM_CLASSES = {"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}
_UPDATABLE = frozenset(
    {"containers", "initContainers", "activeDeadlineSeconds", "tolerations", "schedulingGates", "nodeSelector",
     "affinity", "terminationGracePeriodSeconds", "ephemeralContainers", "serviceAccount", "nodeName", "priority",
     "serviceAccountName", "preemptionPolicy", "enableServiceLinks"}
)  # fmt: skip


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield what is wrong with a Pod, and what an update may not change."""
    meta, spec = child(value, "metadata") or EMPTY, child(value, "spec") or EMPTY
    options = replace(options_of(minor(kubernetes), is_pod=True), labels=frozenset(inner(meta, "labels")))
    if old is not None:
        options = kept(options, inner(old, "spec"))
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


def check_pod_template(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield what is wrong with a PodTemplate; an update may change everything."""
    options = options_of(minor(kubernetes))
    if old is not None:
        options = kept(options, inner(old, "template", "spec"))
    yield from check_template(inner(value, "template"), ("template",), options)


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
                if differs(container.get(key), other.get(key), key) and not _follows(key, container, other):
                    yield IMMUTABLE.forbidden(("spec", field, index, key), "only the image may be changed")
    for field in sorted({*spec, *before} - _UPDATABLE, key=str):
        if differs(spec.get(field), before.get(field), field):
            yield IMMUTABLE.forbidden(("spec", field), "pod updates may not change it")
    yield from _check_deadline(spec, before)
    yield from _check_placement(spec, before)


def _follows(key: str, container: Object, other: Object) -> bool:
    """Whether a changed pull policy is only the default of a changed image: a stored Pod keeps the one it was given."""
    policies = [each.get("imagePullPolicy") for each in (container, other)]
    return key == "imagePullPolicy" and policies == [pull_policy(each.get("image")) for each in (container, other)]


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


def _same_toleration(entry: Object, old: Object) -> bool:
    fields = ("key", "operator", "value", "effect")
    return all((entry.get(field) or "") == (old.get(field) or "") for field in fields)
