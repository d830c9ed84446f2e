"""ClusterQueues, Cohorts and ResourceFlavors: quotas, flavors, limits.

Restated from kueue v0.19.2 pkg/webhooks/clusterqueue_webhook.go, cohort_webhook.go, resourceflavor_webhook.go and
common.go, in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.upstream.kueue.model.queues import MAY_STOP, TRY_NEXT
from trainyard.upstream.kueue.webhooks.faults import (
    Fault,
    Object,
    Path,
    negative_faults,
    objects,
    quantity,
    texts,
)
from trainyard.upstream.kueue.webhooks.labels import key_faults, label_faults, selector_faults, value_faults
from trainyard.upstream.workloads.base import inner, text

ABOVE_NOMINAL = "must be less than or equal to the nominalQuota"
MOST_FLAVORS = MOST_RESOURCES = 256
MOST_PAIRS = 512
SMALLEST = quantity("1n")
"""The smallest amount there is, which is no weight."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What limits of a quota are held against."""

    has_parent: bool
    parent: str
    """What upstream calls the cohort above."""
    is_within_nominal: bool
    """Whether nothing may lend more than it has itself."""


def cluster_queue_faults(value: Object, before: Object | None = None) -> Iterator[Fault]:
    """Yield why a ClusterQueue is refused; `before` is what an update replaces. v1beta1 spells its cohort `cohort`."""
    spec = inner(value, "spec")
    has_parent = bool(text(spec, "cohortName") or text(spec, "cohort"))
    yield from group_faults(value, Limits(has_parent, "cohort", is_within_nominal=True))
    yield from selector_faults(inner(spec, "namespaceSelector"), ("spec", "namespaceSelector"))
    yield from preemption_faults(inner(spec, "preemption"))
    yield from fungibility_faults(inner(spec, "flavorFungibility"))
    yield from weight_faults(spec)
    yield from total_faults(value)
    yield from check_faults(value, before)


def cohort_faults(value: Object) -> Iterator[Fault]:
    """Yield why a Cohort is refused: it may lend more than it has itself. v1beta1 spells its parent `parent`."""
    spec = inner(value, "spec")
    yield from weight_faults(spec)
    has_parent = bool(text(spec, "parentName") or text(spec, "parent"))
    yield from group_faults(value, Limits(has_parent, "parent", is_within_nominal=False))


def flavor_faults(value: Object) -> Iterator[Fault]:
    """Yield why a ResourceFlavor is refused: node labels, taints and tolerations that no node or pod could have."""
    yield from label_faults(inner(value, "spec", "nodeLabels"), ("spec", "nodeLabels"))
    seen: set[tuple[str, str]] = set()
    for path, taint in objects(value, "spec", "nodeTaints", "*"):
        key, effect = text(taint, "key"), text(taint, "effect")
        yield from key_faults(key, (*path, "key"))
        yield from value_faults(text(taint, "value"), (*path, "value"))
        if (key, effect) in seen:
            shown = {"key": key, **filled(taint, "value"), "effect": effect}
            yield Fault("duplicate", path, shown, "taints must be unique by key and effect pair")
        seen.add((key, effect))
    for path, toleration in objects(value, "spec", "tolerations", "*"):
        if key := text(toleration, "key"):
            yield from key_faults(key, (*path, "key"))


def filled(value: Object, *fields: str) -> dict[str, Any]:
    """Return fields of a value as Go writes them: in their order, without those that are empty."""
    return {field: value[field] for field in fields if value.get(field) not in (None, "")}


def group_faults(value: Object, limits: Limits) -> Iterator[Fault]:
    """Yield faults of resource groups."""
    resources, flavors = set[str](), set[str]()
    for path, group in objects(value, "spec", "resourceGroups", "*"):
        covered = texts(group, "coveredResources", "*")
        for at, name in covered:
            yield from key_faults(name, (*path, *at))
            if name in resources:
                yield Fault("duplicate", (*path, *at), name)
            resources.add(name)
        for at, flavor in objects(group, "flavors", "*"):
            yield from quota_faults(flavor, (*path, *at), [name for _, name in covered], limits)
            name = text(flavor, "name")
            if name in flavors:
                yield Fault("duplicate", (*path, *at, "name"), name)
            flavors.add(name)


def quota_faults(flavor: Object, path: Path, covered: Sequence[str], limits: Limits) -> Iterator[Fault]:
    """Yield faults of a flavor's quotas, which have the order of the covered resources."""
    quotas = list(objects(flavor, "resources", "*"))
    for (at, quota), name in zip(quotas, covered, strict=False):
        here = (*path, *at)
        if quota.get("name") != name:
            yield Fault("invalid", (*here, "name"), quota.get("name"), "must match the name in coveredResources")
        if (nominal := quantity(quota.get("nominalQuota") or 0)) is None:
            continue
        yield from negative_faults(nominal, (*here, "nominalQuota"))
        for field in ("borrowingLimit", "lendingLimit"):
            limit = quantity(quota.get(field))
            if limit is None:
                continue
            wanting = [] if limits.has_parent else [no_parent(limit.canonical(), (*here, field), limits.parent)]
            negative = list(negative_faults(limit, (*here, field)))
            yield from (*wanting, *negative) if field == "borrowingLimit" else (*negative, *wanting)
            if field == "lendingLimit" and limits.is_within_nominal and limit > nominal:
                yield Fault("invalid", (*here, field), limit.canonical(), ABOVE_NOMINAL)


def no_parent(limit: str, path: Path, parent: str) -> Fault:
    """Return the fault of a limit of what has no cohort above it."""
    return Fault("invalid", path, limit, f"must be nil when {parent} is empty")


def preemption_faults(rule: Object) -> Iterator[Fault]:
    """Yield borrowing by preemption of a queue that reclaims nothing."""
    borrow = inner(rule, "borrowWithinCohort")
    if (rule.get("reclaimWithinCohort") or "Never") == "Never" and (borrow.get("policy") or "Never") != "Never":
        written = {
            "reclaimWithinCohort": "Never",
            "borrowWithinCohort": filled(borrow, "policy", "maxPriorityThreshold"),
            "withinClusterQueue": rule.get("withinClusterQueue") or "Never",
        }
        detail = "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"
        yield Fault("invalid", ("spec", "preemption"), written, detail)


def fungibility_faults(rule: Object) -> Iterator[Fault]:
    """Yield a preference of a queue that does not try the next flavor in any case."""
    preference = rule.get("preference")
    policies = rule.get("whenCanBorrow") or MAY_STOP, rule.get("whenCanPreempt") or TRY_NEXT
    if preference and policies != (TRY_NEXT, TRY_NEXT):
        detail = f'preference "{preference}" requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor'
        yield Fault("invalid", ("spec", "flavorFungibility", "preference"), preference, detail)


def weight_faults(spec: Object) -> Iterator[Fault]:
    """Yield a weight of fair sharing that is none."""
    weight = quantity(inner(spec, "fairSharing").get("weight"))
    if weight is None:
        return
    yield from negative_faults(weight, ("spec", "fairSharing"))
    if weight == SMALLEST:
        yield Fault("invalid", ("spec", "fairSharing"), weight.canonical(), "When not 0, weight must be > 10e-9")


def total_faults(value: Object) -> Iterator[Fault]:
    """Yield more flavors, resources or pairs of them than a queue may have."""
    at = ("spec", "resourceGroups")
    groups = list(objects(value, *at, "*"))
    for name, field, most in (
        ("flavors", "flavors", MOST_FLAVORS),
        ("covered resources", "coveredResources", MOST_RESOURCES),
    ):
        total = sum(length(group.get(field)) for _, group in groups)
        if total > most:
            detail = f"total number of {name} across all resourceGroups must be ≤ {most}, got {total}"
            yield Fault("invalid", at, total, detail)
    for path, group in groups:
        total = sum(length(flavor.get("resources")) for _, flavor in objects(group, "flavors", "*"))
        if total > MOST_PAIRS:
            detail = f"number of flavor-resource combinations in a resourceGroup must be ≤ {MOST_PAIRS}, got {total}"
            yield Fault("invalid", path, total, detail)


def length(value: Any) -> int:
    """Return how many items a list has; what is none has no items."""
    return len(value) if isinstance(value, (list, tuple)) else 0


def flavors_of(value: Object) -> frozenset[str]:
    """Return the names of a queue's flavors."""
    return frozenset(name for _, name in texts(value, "spec", "resourceGroups", "*", "flavors", "*", "name"))


def check_faults(value: Object, before: Object | None) -> Iterator[Fault]:
    """Yield admission checks for flavors that the queue does not have.

    A check that named others before keeps them, as long as the queue's flavors stay (the gate
    RejectUpdatesToCQWithInvalidOnFlavors is off).
    """
    flavors = flavors_of(value)
    kept = flavors_by_check(before) if before is not None and flavors_of(before) == flavors else {}
    for path, check in objects(value, *CHECKS):
        if kept.get(text(check, "name")) == frozenset(name for _, name in texts(check, "onFlavors", "*")):
            continue
        for at, name in texts(check, "onFlavors", "*"):
            if name not in flavors:
                yield Fault("unsupported", (*path, *at), name, choices=tuple(sorted(flavors)))


CHECKS = ("spec", "admissionChecksStrategy", "admissionChecks", "*")


def flavors_by_check(value: Object) -> Mapping[str, frozenset[str]]:
    """Return by admission check the flavors that it names."""
    return {
        text(check, "name"): frozenset(name for _, name in texts(check, "onFlavors", "*"))
        for _, check in objects(value, *CHECKS)
    }
