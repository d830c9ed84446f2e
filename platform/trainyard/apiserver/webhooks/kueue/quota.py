"""ClusterQueue, Cohort and ResourceFlavor: quotas, flavors, limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.apiserver.core.amounts import nanos
from trainyard.apiserver.core.equality import check_immutable
from trainyard.apiserver.core.selectors import check_label_selector
from trainyard.apiserver.core.shapes import Object, child, count, each, inner, text, texts
from trainyard.apiserver.meta import names
from trainyard.apiserver.meta.metadata import check_labels
from trainyard.apiserver.problems import Path, Problem, Rule
from trainyard.apiserver.webhooks.around import Review

QUEUE = Rule("webhook/cluster-queue", "kueue v0.19.2 pkg/webhooks/clusterqueue_webhook.go")
COHORT = Rule("webhook/cohort", "kueue v0.19.2 pkg/webhooks/cohort_webhook.go")
FLAVOR = Rule("webhook/resource-flavor", "kueue v0.19.2 pkg/webhooks/resourceflavor_webhook.go")

FINALIZER = "kueue.x-k8s.io/resource-in-use"

_FLAVORS = 256
_RESOURCES = 256
_COMBINATIONS = 512
_TRY_NEXT = "TryNextFlavor"


def default(review: Review) -> None:
    """Add the finalizer that keeps a new ClusterQueue or ResourceFlavor while it is used."""
    metadata = review.value.get("metadata")
    if isinstance(metadata, dict):
        finalizers = metadata.get("finalizers") or []
        if isinstance(finalizers, list) and FINALIZER not in finalizers:
            metadata["finalizers"] = [*finalizers, FINALIZER]


def check_cluster_queue(review: Review) -> Iterator[Problem]:
    """Yield what is wrong with a ClusterQueue; v1beta1 spells its cohort differently."""
    spec = review.spec
    cohort = text(spec, "cohortName") or text(spec, "cohort")
    yield from _check_groups(spec, QUEUE, parent=cohort, absent="cohort", lend_at_most_nominal=True)
    if (selector := child(spec, "namespaceSelector")) is not None:
        yield from check_label_selector(selector, ("spec", "namespaceSelector"))
    yield from _check_preemption(spec)
    yield from _check_fair_sharing(spec, QUEUE)
    yield from _check_totals(spec)
    yield from _check_on_flavors(spec, review.old_spec if review.old is not None else None)
    if review.old is not None:
        policy = "concurrentAdmissionPolicy"
        yield from check_immutable(spec.get(policy), review.old_spec.get(policy), ("spec", policy), QUEUE)


def check_cohort(review: Review) -> Iterator[Problem]:
    """Yield what is wrong with a Cohort: it may lend more than it has itself."""
    yield from _check_fair_sharing(review.spec, COHORT)
    parent = text(review.spec, "parentName") or text(review.spec, "parent")
    yield from _check_groups(review.spec, COHORT, parent=parent, absent="parent", lend_at_most_nominal=False)


def check_flavor(review: Review) -> Iterator[Problem]:
    """Yield node labels, taints and tolerations of a ResourceFlavor that no node or pod could have."""
    yield from check_labels(review.spec.get("nodeLabels"), ("spec", "nodeLabels"), FLAVOR)
    seen: set[tuple[str, str]] = set()
    for index, taint in each(review.spec, "nodeTaints"):
        at: Path = ("spec", "nodeTaints", index)
        key, effect = text(taint, "key"), text(taint, "effect")
        if detail := names.label_key(key):
            yield FLAVOR.invalid((*at, "key"), key, detail)
        if detail := names.label_value(text(taint, "value")):
            yield FLAVOR.invalid((*at, "value"), taint.get("value"), detail)
        if (key, effect) in seen:
            yield FLAVOR.invalid(at, taint, "taints must differ in key or effect")
        seen.add((key, effect))
    yield from check_toleration_keys(review.spec, ("spec",), FLAVOR)


def check_toleration_keys(spec: Object, path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield toleration keys that no taint could have; nothing else of a toleration is judged here."""
    for index, toleration in each(spec, "tolerations"):
        key = text(toleration, "key")
        if key and (detail := names.label_key(key)):
            yield rule.invalid((*path, "tolerations", index, "key"), key, detail)


def _check_groups(
    spec: Object, rule: Rule, *, parent: str, absent: str, lend_at_most_nominal: bool
) -> Iterator[Problem]:
    resources: set[str] = set()
    flavors: set[str] = set()
    for index, group in each(spec, "resourceGroups"):
        at: Path = ("spec", "resourceGroups", index)
        for place, name in texts(group, "coveredResources"):
            if detail := names.label_key(name):
                yield rule.invalid((*at, "coveredResources", place), name, detail)
            if name in resources:
                yield rule.duplicate((*at, "coveredResources", place), name)
            resources.add(name)
        covered = [name for _, name in texts(group, "coveredResources")]
        for place, flavor in each(group, "flavors"):
            here: Path = (*at, "flavors", place)
            for number, quota in each(flavor, "resources")[: len(covered)]:
                where: Path = (*here, "resources", number)
                if text(quota, "name") != covered[number]:
                    yield rule.invalid((*where, "name"), quota.get("name"), "must match the name in coveredResources")
                yield from _check_quota(quota, where, rule, "" if parent else absent, lend=lend_at_most_nominal)
            name = text(flavor, "name")
            if name in flavors:
                yield rule.duplicate((*here, "name"), name)
            flavors.add(name)


def _check_quota(quota: Object, path: Path, rule: Rule, absent: str, *, lend: bool) -> Iterator[Problem]:
    nominal = nanos(quota.get("nominalQuota")) or 0
    if nominal < 0:
        yield rule.invalid((*path, "nominalQuota"), quota["nominalQuota"], "must be greater than or equal to 0")
    for limit in ("borrowingLimit", "lendingLimit"):
        value = quota.get(limit)
        amount = nanos(value)
        if value is None or amount is None:
            continue
        if absent:
            yield rule.invalid((*path, limit), value, f"must be left out when {absent} is empty")
        if amount < 0:
            yield rule.invalid((*path, limit), value, "must be greater than or equal to 0")
        if lend and limit == "lendingLimit" and amount > nominal:
            yield rule.invalid((*path, limit), value, "must be less than or equal to the nominalQuota")


def _check_preemption(spec: Object) -> Iterator[Problem]:
    preemption = inner(spec, "preemption")
    borrow = child(preemption, "borrowWithinCohort")
    if preemption.get("reclaimWithinCohort") == "Never" and borrow and text(borrow, "policy") not in ("", "Never"):
        detail = "reclaimWithinCohort=Never and borrowWithinCohort.policy!=Never"
        yield QUEUE.invalid(("spec", "preemption"), preemption, detail)
    fungibility = inner(spec, "flavorFungibility")
    preference = fungibility.get("preference")
    if preference is not None and not (
        fungibility.get("whenCanBorrow") == _TRY_NEXT == fungibility.get("whenCanPreempt")
    ):
        detail = "needs whenCanBorrow and whenCanPreempt to be TryNextFlavor"
        yield QUEUE.invalid(("spec", "flavorFungibility", "preference"), preference, detail)


def _check_fair_sharing(spec: Object, rule: Rule) -> Iterator[Problem]:
    weight: Any = inner(spec, "fairSharing").get("weight")
    amount = nanos(weight)
    if weight is None or amount is None:
        return
    if amount < 0:
        yield rule.invalid(("spec", "fairSharing"), weight, "must be greater than or equal to 0")
    elif amount == 1:
        yield rule.invalid(("spec", "fairSharing"), weight, "must be 0 or more than a billionth")


def _check_totals(spec: Object) -> Iterator[Problem]:
    groups = each(spec, "resourceGroups")
    at: Path = ("spec", "resourceGroups")
    flavors = sum(count(group, "flavors") for _, group in groups)
    if flavors > _FLAVORS:
        yield QUEUE.too_many(at, flavors, _FLAVORS)
    resources = sum(count(group, "coveredResources") for _, group in groups)
    if resources > _RESOURCES:
        yield QUEUE.too_many(at, resources, _RESOURCES)
    for index, group in groups:
        pairs = sum(count(flavor, "resources") for _, flavor in each(group, "flavors"))
        if pairs > _COMBINATIONS:
            yield QUEUE.too_many((*at, index), pairs, _COMBINATIONS)


def _check_on_flavors(spec: Object, old: Object | None) -> Iterator[Problem]:
    """Admission checks name flavors of this queue; a check that named others before may keep them."""
    flavors = _flavors(spec)
    kept: dict[str, set[str]] = {}
    if old is not None and set(_flavors(old)) == set(flavors):
        before = each(inner(old, "admissionChecksStrategy"), "admissionChecks")
        kept = {text(check, "name"): {name for _, name in texts(check, "onFlavors")} for _, check in before}
    for index, check in each(inner(spec, "admissionChecksStrategy"), "admissionChecks"):
        named = texts(check, "onFlavors")
        if kept.get(text(check, "name")) == {name for _, name in named}:
            continue
        at: Path = ("spec", "admissionChecksStrategy", "admissionChecks", index, "onFlavors")
        for place, name in named:
            if name not in flavors:
                yield QUEUE.unsupported((*at, place), name, flavors)


def _flavors(spec: Object) -> tuple[str, ...]:
    groups = (group for _, group in each(spec, "resourceGroups"))
    return tuple(text(flavor, "name") for group in groups for _, flavor in each(group, "flavors"))
