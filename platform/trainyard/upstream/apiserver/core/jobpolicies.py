"""What a Job makes of failed pods and of indexes that succeeded.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/batch/validation/validation.go validatePodFailurePolicy and
validateSuccessPolicy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, fill, inner, integer, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/batch/validation/validation.go"
FAILURE = Rule(
    "core/pod-failure-policy",
    f"{SOURCE} validatePodFailurePolicy",
    title="A pod failure policy has valid actions, exit codes and conditions.",
    fix="give each rule either onExitCodes or onPodConditions, and a known action",
)
SUCCESS = Rule(
    "core/success-policy",
    f"{SOURCE} validateSuccessPolicy",
    title="A success policy has rules with indexes or a count within the Job's completions.",
    fix="set succeededIndexes or succeededCount within spec.completions",
)

ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MOST_RULES = 20
_MOST_CODES = 255
_LONGEST_INDEXES = 64 * 1024
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


def default_failure_policy(spec: Object) -> None:
    """Default the status of the conditions that a pod failure policy looks for."""
    rules = inner(spec, "podFailurePolicy").get("rules")
    for rule in rules if isinstance(rules, list) else ():
        patterns = rule.get("onPodConditions") if isinstance(rule, dict) else None
        for pattern in patterns if isinstance(patterns, list) else ():
            if isinstance(pattern, dict):
                fill(pattern, "status", "True")


def check_failure_policy(spec: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with a Job's `podFailurePolicy`."""
    policy, pod = inner(spec, "podFailurePolicy"), inner(spec, "template", "spec")
    containers = {text(entry, "name") for kind in ("containers", "initContainers") for _, entry in each(pod, kind)}
    if (rules := count(policy, "rules")) > _MOST_RULES:
        yield FAILURE.too_many((*path, "rules"), rules, _MOST_RULES)
    for index, rule in each(policy, "rules"):
        at = (*path, "rules", index)
        action = rule.get("action")
        if not action:
            yield FAILURE.required((*at, "action"), "one of " + ", ".join(ACTIONS))
        elif action not in ACTIONS:
            yield FAILURE.unsupported((*at, "action"), action, ACTIONS)
        elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            yield FAILURE.invalid((*at, "action"), action, "requires backoffLimitPerIndex to be set")
        codes, conditions = child(rule, "onExitCodes"), count(rule, "onPodConditions")
        if (codes is not None) == bool(conditions):
            yield FAILURE.invalid(at, action, "exactly one of onExitCodes and onPodConditions is required")
        if codes is not None:
            yield from _check_codes(codes, (*at, "onExitCodes"), containers)
        yield from _check_conditions(rule, at)


def _check_conditions(rule: Object, path: Path) -> Iterator[Problem]:
    if (conditions := count(rule, "onPodConditions")) > _MOST_RULES:
        yield FAILURE.too_many((*path, "onPodConditions"), conditions, _MOST_RULES)
    for index, condition in each(rule, "onPodConditions"):
        at = (*path, "onPodConditions", index)
        kind, status = condition.get("type") or "", condition.get("status") or "True"
        if detail := names.label_key(kind):
            yield FAILURE.invalid((*at, "type"), kind, detail)
        if status not in _STATUSES:
            yield FAILURE.unsupported((*at, "status"), status, _STATUSES)


def _check_codes(codes: Object, path: Path, containers: set[str]) -> Iterator[Problem]:
    operator, container = codes.get("operator"), codes.get("containerName")
    if not operator:
        yield FAILURE.required((*path, "operator"), "In or NotIn")
    elif operator not in _OPERATORS:
        yield FAILURE.unsupported((*path, "operator"), operator, _OPERATORS)
    if isinstance(container, str) and container not in containers:
        yield FAILURE.invalid((*path, "containerName"), container, "must be a container of the pod template")
    values = [value for value in codes.get("values") or () if type(value) is int] if _is_list(codes, "values") else []
    if not values and not codes.get("values"):
        yield FAILURE.invalid((*path, "values"), [], "at least one value is required")
    elif len(values) > _MOST_CODES:
        yield FAILURE.too_many((*path, "values"), len(values), _MOST_CODES)
    if operator == "In" and 0 in values:
        yield FAILURE.invalid((*path, "values", values.index(0)), 0, "must not be 0 for the In operator")
    seen: set[int] = set()
    for index, value in enumerate(values):
        if value in seen:
            yield FAILURE.duplicate((*path, "values", index), value)
        seen.add(value)
    if any(left > right for left, right in pairwise(values)):
        yield FAILURE.invalid((*path, "values"), values, "must be ordered")


def _is_list(value: Object, key: str) -> bool:
    return isinstance(value.get(key), list)


def check_success_policy(spec: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with a Job's `successPolicy`."""
    policy, completions = inner(spec, "successPolicy"), number(spec, "completions")
    rules = count(policy, "rules")
    if not rules:
        yield SUCCESS.required((*path, "rules"), "at least one rule must be specified")
    elif rules > _MOST_RULES:
        yield SUCCESS.too_many((*path, "rules"), rules, _MOST_RULES)
    for index, rule in each(policy, "rules"):
        at = (*path, "rules", index)
        indexes, wanted = rule.get("succeededIndexes"), number(rule, "succeededCount")
        if indexes is None and rule.get("succeededCount") is None:
            yield SUCCESS.required(at, "at least one of succeededCount or succeededIndexes must be specified")
        if completions is None:
            continue
        limit = completions
        if isinstance(indexes, str):
            if len(indexes) > _LONGEST_INDEXES:
                yield SUCCESS.too_long((*at, "succeededIndexes"), _LONGEST_INDEXES)
            total = count_indexes(indexes, completions)
            if isinstance(total, str):
                yield SUCCESS.invalid((*at, "succeededIndexes"), indexes, total)
                total = 0
            limit = min(limit, total)
        if wanted is not None and wanted < 0:
            yield SUCCESS.invalid((*at, "succeededCount"), wanted, "must be greater than or equal to 0")
        if wanted is not None and wanted > limit:
            yield SUCCESS.invalid((*at, "succeededCount"), wanted, f"must be at most {limit}, the number of indexes")


def count_indexes(text_: str, completions: int) -> int | str:
    """How many indexes a list such as `1,3-5` names, or what is wrong with it."""
    last: int | None = None
    total = 0
    for interval in text_.split(",") if text_ else ():
        limits = interval.split("-")
        if len(limits) > 2 or not all(_INTEGER.fullmatch(part) for part in limits):
            return f"{interval!r} is no index and no interval such as 3-5"
        first, final = integer(limits[0]), integer(limits[-1])
        if first >= completions or final >= completions:
            return f"{interval!r} is too large for {completions} completions"
        if (len(limits) == 2 and first >= final) or (last is not None and last >= first):
            return "indexes must increase"
        total += final - first + 1
        last = final
    return total
