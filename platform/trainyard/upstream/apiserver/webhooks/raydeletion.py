"""When a RayJob's cluster goes: time to live, and the deletion strategy with its two generations of fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.upstream.apiserver.core.shapes import Object, child, each, flag, inner, number, text
from trainyard.upstream.apiserver.gates import OFF
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

_ORDER = ("DeleteWorkers", "DeleteCluster", "DeleteSelf")
_PATH: Path = ("spec", "deletionStrategy")


def check_deletion(spec: Object, rule: Rule, *, gated: bool = True) -> Iterator[Problem]:
    """Yield contradictions in how a RayJob is cleaned up; `gated` says whether the gate of strategies is on."""
    shuts_down, ttl = flag(spec, "shutdownAfterJobFinishes"), number(spec, "ttlSecondsAfterFinished") or 0
    if ttl < 0:
        yield rule.invalid(("spec", "ttlSecondsAfterFinished"), ttl, "must be greater than or equal to 0")
    if ttl > 0 and not shuts_down:
        yield rule.forbidden(("spec", "ttlSecondsAfterFinished"), "needs shutdownAfterJobFinishes")
    strategy = child(spec, "deletionStrategy")
    if strategy is None:
        return
    if not gated:
        yield rule.forbidden(_PATH, OFF.format("RayJobDeletionPolicy"))
        return
    rules = each(strategy, "deletionRules")
    legacy = [child(strategy, field) for field in ("onSuccess", "onFailure")]
    if rules and shuts_down:
        yield rule.forbidden((*_PATH, "deletionRules"), "cannot be set with shutdownAfterJobFinishes")
    if rules and any(part is not None for part in legacy):
        yield rule.forbidden((*_PATH, "deletionRules"), "cannot be set with onSuccess and onFailure")
    elif any(part is not None for part in legacy):
        yield from _check_legacy(spec, strategy, rule)
    elif rules:
        yield from _check_rules(spec, rules, rule)
    else:
        yield rule.required(_PATH, "set either onSuccess and onFailure, or deletionRules")


def _check_legacy(spec: Object, strategy: Object, rule: Rule) -> Iterator[Problem]:
    policies = []
    for field in ("onSuccess", "onFailure"):
        policy = inner(strategy, field).get("policy")
        if policy is None:
            yield rule.required((*_PATH, field, "policy"))
        policies.append(policy)
        if inner(spec, "clusterSelector") and policy in ("DeleteCluster", "DeleteWorkers"):
            yield rule.forbidden((*_PATH, field, "policy"), f"{policy} is not supported with a clusterSelector")
    if "DeleteWorkers" in policies and _scales(spec):
        yield rule.forbidden(_PATH, "DeleteWorkers is not supported with autoscaling")
    if "DeleteNone" in policies and flag(spec, "shutdownAfterJobFinishes"):
        yield rule.forbidden(_PATH, "DeleteNone cannot be combined with shutdownAfterJobFinishes")


def _scales(spec: Object) -> bool:
    return flag(inner(spec, "rayClusterSpec"), "enableInTreeAutoscaling")


def _check_rules(spec: Object, rules: Sequence[tuple[int, Object]], rule: Rule) -> Iterator[Problem]:
    """Rules differ in policy and state; what holds others is deleted after them."""
    seen: dict[tuple[str, str], dict[str, int]] = {}
    for index, entry in rules:
        path: Path = (*_PATH, "deletionRules", index)
        condition, policy = inner(entry, "condition"), text(entry, "policy")
        states = [field for field in ("jobStatus", "jobDeploymentStatus") if condition.get(field) is not None]
        ttl = number(condition, "ttlSeconds") or 0
        if len(states) != 1:
            yield rule.invalid((*path, "condition"), states, "exactly one of jobStatus and jobDeploymentStatus")
            continue
        if ttl < 0:
            yield rule.invalid((*path, "condition", "ttlSeconds"), ttl, "must be greater than or equal to 0")
            continue
        if inner(spec, "clusterSelector") and policy in ("DeleteCluster", "DeleteWorkers"):
            yield rule.forbidden((*path, "policy"), f"{policy} is not supported with a clusterSelector")
            continue
        if policy == "DeleteWorkers" and _scales(spec):
            yield rule.forbidden((*path, "policy"), "DeleteWorkers is not supported with autoscaling")
            continue
        times = seen.setdefault((states[0], str(condition[states[0]])), {})
        if policy in times:
            yield rule.duplicate((*path, "policy"), policy)
        else:
            times[policy] = ttl
    for (_, state), times in seen.items():
        ordered = [times[policy] for policy in _ORDER if policy in times]
        if ordered != sorted(ordered):
            detail = f"for {state}, delete workers first, then the cluster, then the job"
            yield rule.invalid((*_PATH, "deletionRules"), ordered, detail)
