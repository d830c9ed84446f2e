"""LeaderWorkerSet: sizes, rolling updates, subgroups; verified against 0.9.0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.shapes import Object, child, each, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks.around import Review, annotations_of

RULE = Rule(
    "webhook/lws",
    "lws v0.9.0 pkg/webhooks/leaderworkerset_webhook.go",
    title="A LeaderWorkerSet passes the checks of its webhook.",
    fix="use counts of 1 or more; let subGroupSize divide size, or size - 1",
)

ROLES = Rule(
    "webhook/disaggregated-set",
    "lws v0.9.0 pkg/webhooks/disaggregatedset/disaggregatedset_webhook.go",
    title="A DisaggregatedSet passes the checks of its webhook.",
    fix="use the strategy RollingUpdate, and remove fields that are not supported",
)

_INT32 = 2**31 - 1
_EXCLUSIVE = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
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
    """Yield a DisaggregatedSet's roles that roll out by themselves: the set does that for all of them."""
    for index, role in each(review.spec, "roles"):
        strategy = inner(role, "spec", "rolloutStrategy")
        path: Path = ("spec", "roles", index, "spec", "rolloutStrategy")
        kind = text(strategy, "type")
        if kind not in ("", "RollingUpdate"):
            yield ROLES.unsupported((*path, "type"), kind, ("RollingUpdate", ""))
        if number(inner(strategy, "rollingUpdateConfiguration"), "partition"):
            at: Path = (*path, "rollingUpdateConfiguration", "partition")
            yield ROLES.forbidden(at, "not supported; updates are rolled out across roles")


def _or_one(value: int | None) -> int:
    return 1 if value is None else value


def _check_rollout(spec: Object, replicas: int) -> Iterator[Problem]:
    strategy = inner(spec, "rolloutStrategy")
    path: Path = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")
    rolling = child(strategy, "rollingUpdateConfiguration")
    if rolling is None:
        return
    unavailable, surge = rolling.get("maxUnavailable", 1), rolling.get("maxSurge", 0)
    yield from _check_part(unavailable, (*path, "maxUnavailable"))
    yield from _check_part(surge, (*path, "maxSurge"))
    if (partition := number(rolling, "partition")) is not None and partition < 0:
        yield RULE.invalid((*path, "partition"), partition, "must be greater than or equal to 0")
    if replicas and _share(unavailable, replicas) == 0 and _share(surge, replicas, up=True) == 0:
        yield RULE.invalid((*path, "maxUnavailable"), unavailable, "must not be 0 when maxSurge is 0")


def _check_part(value: Any, path: Path) -> Iterator[Problem]:
    if isinstance(value, str):
        if detail := names.percent(value):
            yield RULE.invalid(path, value, detail)
        elif int(value[:-1]) > 100:
            yield RULE.invalid(path, value, "must not be greater than 100%")
    elif isinstance(value, int) and value < 0:
        yield RULE.invalid(path, value, "must be greater than or equal to 0")


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
