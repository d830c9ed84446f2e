"""AppWrapper: which objects it may hold, which pods its components declare, and what an update may change.

Restated from 1.2.1. Two of its questions are not asked here: whether the user who creates an AppWrapper may create
each of its objects, since no manifest names that user; and whether Go can decode the specification of each pod, since
the held objects are judged themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trainyard.base.manifests import identity_of, maps_in
from trainyard.upstream.apiserver.core.shapes import Object, count, each, inner, number, text
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks.around import Review, labels_of
from trainyard.upstream.workloads import carrier_of
from trainyard.upstream.workloads.base import PodSet
from trainyard.upstream.workloads.components import ROOT, NoPathError, follow, inferred

RULE = Rule(
    "webhook/appwrapper",
    "appwrapper v1.2.1 internal/webhook/appwrapper_webhook.go",
    title="An AppWrapper passes the checks of its webhook.",
    fix="change the component in the message; it may not be an AppWrapper, or an object of another namespace",
)
CREATES = Rule(
    "webhook/appwrapper-role",
    "appwrapper v1.2.1 config/rbac/role.yaml, refused at reconcile",
    title="The AppWrapper operator may create the objects in an AppWrapper.",
    why="the operator's ClusterRole names few kinds, and it cannot create objects of others",
    fix="hold one of those kinds, or give the operator's ClusterRole the right to create this one",
    may_warn=True,
)

MOST = 8
"""Pod sets of one AppWrapper, which are those of one Workload of Kueue."""

CREATED = frozenset(
    {
        *(("", "Pod"), ("", "Service"), ("apps", "Deployment"), ("apps", "StatefulSet"), ("batch", "Job")),
        *(
            ("jobset.x-k8s.io", "JobSet"),
            ("kubeflow.org", "PyTorchJob"),
            ("ray.io", "RayCluster"),
            ("ray.io", "RayJob"),
        ),
        *(("scheduling.sigs.k8s.io", "PodGroup"), ("scheduling.x-k8s.io", "PodGroup")),
    }
)
"""Groups and kinds that the ClusterRole of the operator lets it create."""

_COMPONENTS: Path = ("spec", "components")
_WHO = ("workload.codeflare.dev/user", "workload.codeflare.dev/userid")
"""Labels in which the webhook keeps who created an AppWrapper."""
_IMMUTABLE = "field is immutable"


def default(_review: Review) -> bool:
    """Say that the webhook changes every new AppWrapper: it writes the user into labels, which nothing here reads."""
    return True


def check(review: Review) -> Iterator[Problem]:
    """Yield the problems with an AppWrapper; what it holds is looked at when it is created alone."""
    yield from _check_create(review) if review.old is None else _check_update(review)


def reconcile(review: Review) -> Iterator[Problem]:
    """Yield the held objects that the operator may not create, unless somebody gives it more rights."""
    for index, component in each(review.spec, "components"):
        identity = identity_of(inner(component, ROOT))
        if (identity.group, identity.kind) not in CREATED:
            what = f"the AppWrapper operator may not create a {identity.kind}"
            advice = "grant it that right, or apply the object outside of the AppWrapper"
            found = CREATES.forbidden((*_COMPONENTS, index, ROOT, "kind"), f"{what}; {advice}")
            yield replace(found, warns=True)


def _check_create(review: Review) -> Iterator[Problem]:
    pod_sets, nested = 0, False
    for index, component in each(review.spec, "components"):
        path = (*_COMPONENTS, index)
        held = inner(component, ROOT)
        if _is_same_kind(held, review.value):
            nested = True
            yield RULE.forbidden((*path, ROOT), "an AppWrapper may not hold an AppWrapper; list its components here")
        namespace = identity_of(held).namespace
        if namespace and namespace != review.namespace:
            detail = f"an AppWrapper creates objects in its own namespace {review.namespace!r} alone; remove namespace"
            yield RULE.forbidden((*path, ROOT, "metadata", "namespace"), detail)
        found = inferred(held, carrier_of(held))
        yield from _check_declared(component, held, found, (*path, "podSets"))
        pod_sets += max(len(found), count(component, "podSets"))
    if pod_sets == 0 and not nested:
        yield RULE.required(_COMPONENTS, "no component has pods; hold a job, or declare its pods in podSets")
    if pod_sets > MOST:
        yield RULE.too_many(_COMPONENTS, pod_sets, MOST)


def _is_same_kind(held: Object, value: Object) -> bool:
    return (held.get("apiVersion"), held.get("kind")) == (value.get("apiVersion"), value.get("kind"))


def _check_declared(component: Object, held: Object, found: list[PodSet], path: Path) -> Iterator[Problem]:
    """Yield declared pod sets that lead nowhere, or are not those that AppWrapper finds itself."""
    declared: dict[Path, tuple[int, int]] = {}
    for index, pod_set in each(component, "podSets"):
        where, said = (*path, index, "path"), text(pod_set, "path")
        if not said:
            yield RULE.required(where, "write the path of a pod template, such as template.spec.template")
            continue
        try:
            template = follow(held, said)
        except NoPathError as error:
            yield RULE.invalid(where, said, f"leads to no pod template: {error}")
            continue
        if template in declared:
            yield RULE.duplicate(where, said)
        replicas = number(pod_set, "replicas")
        declared[template] = index, 1 if replicas is None else replicas
    if found and len(declared) == count(component, "podSets") > 0:
        yield from _check_same(declared, found, path, str(held.get("kind")))


def _check_same(declared: dict[Path, tuple[int, int]], found: list[PodSet], path: Path, kind: str) -> Iterator[Problem]:
    advice = f"remove podSets: AppWrapper finds the pods of a {kind} itself"
    if len(found) != len(declared):
        yield RULE.invalid(path, len(declared), f"the {kind} has {len(found)} pod sets; {advice}")
        return
    for pod_set in found:
        if pod_set.template not in declared:
            yield RULE.required(path, f"pod set {pod_set.name!r} of the {kind} is missing; {advice}")
            continue
        index, replicas = declared[pod_set.template]
        if replicas != pod_set.count:
            detail = f"the {kind} has {pod_set.count} such pods; {advice}"
            yield RULE.invalid((*path, index, "replicas"), replicas, detail)


def _check_update(review: Review) -> Iterator[Problem]:
    now, before = (maps_in(spec.get("components")) for spec in (review.spec, review.old_spec))
    if len(now) != len(before):
        yield RULE.forbidden(_COMPONENTS, _IMMUTABLE)
        return
    for index, (new, old) in enumerate(zip(now, before, strict=True)):
        yield from _check_component(new, old, (*_COMPONENTS, index))
    old_labels, labels = labels_of(review.old or {}), labels_of(review.value)
    yield from (
        RULE.forbidden(("metadata", "labels", key), _IMMUTABLE)
        for key in _WHO
        if old_labels.get(key) != labels.get(key)
    )
    if review.old_spec.get("managedBy") != review.spec.get("managedBy"):
        yield RULE.forbidden(("spec", "managedBy"), _IMMUTABLE)


def _check_component(new: Object, old: Object, path: Path) -> Iterator[Problem]:
    if new.get(ROOT) != old.get(ROOT):
        yield RULE.forbidden((*path, ROOT), f"{_IMMUTABLE}; create another AppWrapper")
    if _pods(new) != _pods(old):
        yield RULE.forbidden((*path, "podSets"), _IMMUTABLE)


def _pods(component: Object) -> list[tuple[Any, Any]]:
    """Return path and number of each declared pod set."""
    return [(found.get("path"), found.get("replicas", 1)) for found in maps_in(component.get("podSets"))]
