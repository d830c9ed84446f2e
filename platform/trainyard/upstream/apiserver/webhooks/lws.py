"""LeaderWorkerSet and DisaggregatedSet: sizes, rolling updates, subgroups; verified against 0.9.0 and 0.10.0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.shapes import Object, child, each, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks.around import Review, annotations_of

RULE = Rule(
    "webhook/lws",
    "lws v0.10.0 pkg/webhooks/leaderworkerset_webhook.go",
    title="A LeaderWorkerSet passes the checks of its webhook.",
    fix="use counts of 1 or more; let subGroupSize divide size, or size - 1",
)

ROLES = Rule(
    "webhook/disaggregated-set",
    "lws v0.10.0 pkg/webhooks/disaggregatedset/disaggregatedset_webhook.go",
    title="A DisaggregatedSet passes the checks of its webhook.",
    fix="use the strategy RollingUpdate; remove or correct the field that the message names",
    may_warn=True,
)

_INT32 = 2**31 - 1
_EXCLUSIVE = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
_GROUP_EXCLUSIVE = "leaderworkerset.sigs.k8s.io/exclusive-topology"
_NAME_BYTES = 253
_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")
_SUB_GROUP: Path = (*_TEMPLATE, "subGroupPolicy", "subGroupSize")


def default(review: Review) -> None:
    """Fill in what the webhook does: how to restart, roll out and name."""
    spec = child(review.value, "spec")
    if spec is None:
        return
    template = inner(spec, "leaderWorkerTemplate")
    if template and template.get("restartPolicy") in (None, "", "Default"):
        template["restartPolicy"] = "None" if template.get("restartPolicy") else "RecreateGroupOnPodRestart"
    strategy = spec.setdefault("rolloutStrategy", {})
    if isinstance(strategy, dict):
        if strategy.get("type") in (None, ""):
            strategy["type"] = "RollingUpdate"
        if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdateConfiguration") is None:
            strategy["rollingUpdateConfiguration"] = {"maxUnavailable": 1, "maxSurge": 0, "partition": 0}
    if spec.get("networkConfig") is None:
        spec["networkConfig"] = {}
    if isinstance(spec["networkConfig"], dict) and spec["networkConfig"].get("subdomainPolicy") is None:
        spec["networkConfig"]["subdomainPolicy"] = "Shared"


def check(review: Review) -> Iterator[Problem]:
    """Yield the problems with a LeaderWorkerSet."""
    if review.name and (detail := names.dns_label_1035(review.name)):
        yield RULE.invalid(("metadata", "name"), review.name, detail)
    replicas = _or_one(number(review.spec, "replicas"))
    template = inner(review.spec, "leaderWorkerTemplate")
    size = _or_one(number(template, "size"))
    if replicas < 0:
        yield RULE.invalid(("spec", "replicas"), replicas, "must be greater than or equal to 0")
    if size < 1:
        yield RULE.invalid((*_TEMPLATE, "size"), size, "must be greater than or equal to 1")
    if replicas * size > _INT32:
        yield RULE.invalid(("spec", "replicas"), replicas, f"replicas times size must not exceed {_INT32}")
    yield from _check_rollout(review.spec, replicas)
    yield from _check_sub_group(review, template, size)
    if review.old is not None:
        yield from _check_update(template, inner(review.old_spec, "leaderWorkerTemplate"))


def check_roles(review: Review) -> Iterator[Problem]:
    """Yield a DisaggregatedSet's roles that roll out by themselves: the set does that for all of them.

    Since 0.10 it also looks at slices, placement and the amounts of a rollout.
    """
    newer = review.since("lws", "0.10.0")
    for index, role in each(review.spec, "roles"):
        strategy = inner(role, "spec", "rolloutStrategy")
        path: Path = ("spec", "roles", index, "spec", "rolloutStrategy")
        kind = text(strategy, "type")
        if kind not in ("", "RollingUpdate"):
            yield ROLES.unsupported((*path, "type"), kind, ("RollingUpdate", ""))
        if number(inner(strategy, "rollingUpdateConfiguration"), "partition"):
            at: Path = (*path, "rollingUpdateConfiguration", "partition")
            yield ROLES.forbidden(at, "not supported; updates are rolled out across roles")
        replicas = number(inner(role, "spec"), "replicas")
        if newer and replicas:
            yield from _check_amounts(strategy, (*path, "rollingUpdateConfiguration"), replicas, ROLES)
    if newer:
        yield from _check_scaling(review)
        yield from _check_placement(review.spec)


def _check_scaling(review: Review) -> Iterator[Problem]:
    """Yield the names of roles that others scale, where a scaler's would be too long, and slices beside such roles."""
    scaled = [
        (index, role)
        for index, role in each(review.spec, "roles")
        if text(inner(role, "scaling"), "mode") == "External"
    ]
    for index, role in scaled:
        longest = _NAME_BYTES - names.size(review.name) - 1
        if names.size(text(role, "name")) > longest:
            yield ROLES.too_long(("spec", "roles", index, "name"), longest)
    if scaled and (number(review.spec, "slices") or 0) > 1:
        yield ROLES.forbidden(("spec", "slices"), "several slices need roles without scaling.mode External")


def _check_placement(spec: Object) -> Iterator[Problem]:
    policy = inner(spec, "placementPolicy")
    if text(policy, "type") in ("", "None"):
        return
    if not text(policy, "topology"):
        yield ROLES.required(("spec", "placementPolicy", "topology"), "name the node label to place by")
    for index, role in each(spec, "roles"):
        templates = inner(role, "spec", "leaderWorkerTemplate")
        holders = (role, inner(templates, "leaderTemplate"), inner(templates, "workerTemplate"))
        if any(key in annotations_of(holder) for key in (_GROUP_EXCLUSIVE, _EXCLUSIVE) for holder in holders):
            detail = "its exclusive-topology annotation cannot be combined with spec.placementPolicy; remove one"
            yield ROLES.forbidden(("spec", "roles", index), detail)


def _or_one(value: int | None) -> int:
    return 1 if value is None else value


def _check_rollout(spec: Object, replicas: int) -> Iterator[Problem]:
    strategy = inner(spec, "rolloutStrategy")
    path: Path = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")
    partition = number(inner(strategy, "rollingUpdateConfiguration"), "partition")
    if partition is not None and partition < 0:
        yield RULE.invalid((*path, "partition"), partition, "must be greater than or equal to 0")
    yield from _check_amounts(strategy, path, replicas, RULE)


def _check_amounts(strategy: Object, path: Path, replicas: int, rule: Rule) -> Iterator[Problem]:
    """Yield the amounts of a rolling update that are wrong, or that let nothing be updated."""
    rolling = child(strategy, "rollingUpdateConfiguration")
    if rolling is None:
        return
    unavailable, surge = rolling.get("maxUnavailable", 1), rolling.get("maxSurge", 0)
    wrong = [
        *_check_part(unavailable, (*path, "maxUnavailable"), rule),
        *_check_part(surge, (*path, "maxSurge"), rule),
    ]
    yield from wrong
    if rule is ROLES and wrong:
        return
    if replicas and _share(unavailable, replicas) == 0 and _share(surge, replicas, up=True) == 0:
        yield rule.invalid((*path, "maxUnavailable"), unavailable, "must not be 0 when maxSurge is 0")


def _check_part(value: Any, path: Path, rule: Rule) -> Iterator[Problem]:
    if isinstance(value, str):
        if detail := names.percent(value):
            yield rule.invalid(path, value, detail)
        elif int(value[:-1]) > 100:
            yield rule.invalid(path, value, "must not be greater than 100%")
    elif isinstance(value, int) and value < 0:
        yield rule.invalid(path, value, "must be greater than or equal to 0")


def _share(value: Any, total: int, *, up: bool = False) -> int:
    """A number, or a part of the total; what is no percentage counts as none, as to the webhook."""
    if isinstance(value, int):
        return value
    if not isinstance(value, str) or names.percent(value):
        return 0
    product = int(value[:-1]) * total
    return -(-product // 100) if up else product // 100


def _check_sub_group(review: Review, template: Object, size: int) -> Iterator[Problem]:
    policy = child(template, "subGroupPolicy")
    if policy is None:
        if _EXCLUSIVE in annotations_of(review.value):
            yield RULE.invalid(("metadata", "annotations", _EXCLUSIVE), None, "needs a subGroupSize")
        return
    part = number(policy, "subGroupSize")
    if part is None or part == 0:
        yield RULE.invalid(_SUB_GROUP, part, "must be greater than or equal to 1")
        return
    if part < 1:
        yield RULE.invalid(_SUB_GROUP, part, "must be greater than or equal to 1")
    if size % part and (size - 1) % part:
        yield RULE.invalid(_SUB_GROUP, part, f"must divide the size {size} or {size - 1}")
    if size < part:
        yield RULE.invalid(_SUB_GROUP, part, f"cannot be larger than the size {size}")
    if text(policy, "subGroupPolicyType") == "LeaderExcluded" and (size - 1) % part:
        yield RULE.invalid(_SUB_GROUP, part, f"must divide {size - 1} when using LeaderExcluded")


def _check_update(now: Object, before: Object) -> Iterator[Problem]:
    new, old = child(now, "subGroupPolicy"), child(before, "subGroupPolicy")
    if new is not None and old is not None:
        if number(new, "subGroupSize") != number(old, "subGroupSize"):
            yield RULE.invalid(_SUB_GROUP, new.get("subGroupSize"), "field is immutable")
    elif new is not None:
        yield RULE.invalid(_SUB_GROUP, new.get("subGroupSize"), "cannot be set after creation")
    elif old is not None:
        yield RULE.invalid(_SUB_GROUP, None, "cannot be removed")
