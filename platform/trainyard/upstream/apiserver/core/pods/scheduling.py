"""Where a pod may run: tolerations, affinity, topology spread, scheduling and readiness gates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.pods.options import Options
from trainyard.upstream.apiserver.core.pods.rules import AFFINITY, SCHEDULING, SPREAD, TOLERATION
from trainyard.upstream.apiserver.core.selectors import check_label_selector, check_node_selector, check_node_term
from trainyard.upstream.apiserver.core.shapes import Object, child, each, inner, number, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule, spell_value

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NO_SELECTOR = "must not be specified when labelSelector is not set"


def check_tolerations(spec: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with tolerations; comparing operators are behind a gate that is off."""
    for index, toleration in each(spec, "tolerations"):
        at = (*path, "tolerations", index)
        key, operator = toleration.get("key"), toleration.get("operator") or "Equal"
        value, effect = toleration.get("value"), toleration.get("effect")
        if key and (detail := names.label_key(key)):
            yield TOLERATION.invalid((*at, "key"), key, detail)
        if not key and operator != "Exists":
            yield TOLERATION.invalid((*at, "operator"), operator, "must be Exists when key is empty")
        if number(toleration, "tolerationSeconds") is not None and effect != "NoExecute":
            yield TOLERATION.invalid((*at, "effect"), effect or "", "must be NoExecute when tolerationSeconds is set")
        if operator == "Equal":
            if value and (detail := names.label_value(value)):
                yield TOLERATION.invalid((*at, "value"), value, detail)
        elif operator == "Exists":
            if value:
                detail = f"needs an empty value, not {spell_value(value)}"
                yield TOLERATION.invalid((*at, "operator"), operator, detail)
        else:
            yield TOLERATION.unsupported((*at, "operator"), operator, ("Equal", "Exists"))
        if effect and effect not in EFFECTS:
            yield TOLERATION.unsupported((*at, "effect"), effect, EFFECTS)


def check_affinity(spec: Object, path: Path, options: Options) -> Iterator[Problem]:
    """Yield the problems with node and pod affinity."""
    if (affinity := child(spec, "affinity")) is None:
        return
    path = (*path, "affinity")
    node = inner(affinity, "nodeAffinity")
    if (required := child(node, _REQUIRED)) is not None:
        at = (*path, "nodeAffinity", _REQUIRED)
        yield from check_node_selector(required, at, any_value=options.any_node_value)
    for index, term in each(node, _PREFERRED):
        at = (*path, "nodeAffinity", _PREFERRED, index)
        yield from _check_weight(term, at)
        yield from check_node_term(inner(term, "preference"), (*at, "preference"), any_value=True)
    for kind in ("podAffinity", "podAntiAffinity"):
        pods = inner(affinity, kind)
        for index, term in each(pods, _REQUIRED):
            yield from _check_pod_term(term, (*path, kind, _REQUIRED, index), options)
        for index, term in each(pods, _PREFERRED):
            at = (*path, kind, _PREFERRED, index)
            yield from _check_weight(term, at)
            yield from _check_pod_term(inner(term, "podAffinityTerm"), (*at, "podAffinityTerm"), options)


def _check_weight(term: Object, path: Path) -> Iterator[Problem]:
    weight = number(term, "weight") or 0
    if not 1 <= weight <= 100:
        yield AFFINITY.invalid((*path, "weight"), weight, "must be in the range 1-100")


def _check_pod_term(term: Object, path: Path, options: Options) -> Iterator[Problem]:
    for kind in ("labelSelector", "namespaceSelector"):
        yield from check_label_selector(term.get(kind), (*path, kind), any_value=options.any_selector_value)
    for index, name in texts(term, "namespaces"):
        if detail := names.dns_label(name):
            yield AFFINITY.invalid((*path, "namespaces", index), name, detail)
    yield from check_label_keys(term, path, AFFINITY, options)
    key = term.get("topologyKey")
    if not key:
        yield AFFINITY.required((*path, "topologyKey"), "can not be empty")
    elif detail := names.label_key(key):
        yield AFFINITY.invalid((*path, "topologyKey"), key, detail)


def check_label_keys(term: Object, path: Path, rule: Rule, options: Options) -> Iterator[Problem]:
    """Yield the problems with `matchLabelKeys` and `mismatchLabelKeys` next to a label selector.

    A Pod's selector gets a requirement for each key that the pod has as a label before it is judged; source:
    k8s.io/kubernetes v1.35.4 pkg/registry/core/pod/strategy.go mutatePodAffinity.
    """
    selector = child(term, "labelSelector")
    match = [key for _, key in texts(term, "matchLabelKeys")]
    others = {key for _, key in texts(term, "mismatchLabelKeys")}
    for kind in ("matchLabelKeys", "mismatchLabelKeys"):
        keys = texts(term, kind)
        if keys and selector is None:
            yield rule.forbidden((*path, kind), NO_SELECTOR)
            continue
        for index, key in keys:
            if detail := names.label_key(key):
                yield rule.invalid((*path, kind, index), key, detail)
    if selector is not None and match:
        yield from _check_twice(selector, match, path, rule, options)
    for index, key in enumerate(match):
        if key in others:
            yield rule.invalid((*path, "matchLabelKeys", index), key, "exists in mismatchLabelKeys too")


def _check_twice(selector: Object, match: list[str], path: Path, rule: Rule, options: Options) -> Iterator[Problem]:
    """Yield keys of `matchLabelKeys` that the selector speaks of too."""
    twice = "exists in both matchLabelKeys and labelSelector"
    seen = set(child(selector, "matchLabels") or ())
    for _, expression in each(selector, "matchExpressions"):
        key = text(expression, "key")
        if key in match and key in seen:
            yield rule.invalid((*path, "matchLabelKeys"), key, twice)
        seen.add(key)
    for key in match:
        if key in seen and key in options.labels:
            yield rule.invalid((*path, "matchLabelKeys"), key, twice)


def check_spread(spec: Object, path: Path, options: Options) -> Iterator[Problem]:
    """Yield the problems with topology spread constraints."""
    seen: set[tuple[Any, Any]] = set()
    for index, constraint in each(spec, "topologySpreadConstraints"):
        at = (*path, "topologySpreadConstraints", index)
        skew, action = number(constraint, "maxSkew") or 0, constraint.get("whenUnsatisfiable") or ""
        if skew <= 0:
            yield SPREAD.invalid((*at, "maxSkew"), skew, "must be greater than zero")
        key = text(constraint, "topologyKey")
        if not constraint.get("topologyKey"):
            yield SPREAD.required((*at, "topologyKey"), "can not be empty")
        if action not in ("DoNotSchedule", "ScheduleAnyway"):
            yield SPREAD.unsupported((*at, "whenUnsatisfiable"), action, ("DoNotSchedule", "ScheduleAnyway"))
        if (key, str(action)) in seen:
            yield SPREAD.duplicate(at, f"{key}, {action}")
        seen.add((key, str(action)))
        yield from _check_domains(constraint, at, action)
        yield from check_label_keys(constraint, at, SPREAD, options)
        if not options.any_spread_selector:
            yield from check_label_selector(constraint.get("labelSelector"), (*at, "labelSelector"))


def _check_domains(constraint: Object, path: Path, action: Any) -> Iterator[Problem]:
    domains = number(constraint, "minDomains")
    if domains is not None:
        if domains <= 0:
            yield SPREAD.invalid((*path, "minDomains"), domains, "must be greater than zero")
        if action != "DoNotSchedule":
            yield SPREAD.invalid((*path, "minDomains"), domains, "needs whenUnsatisfiable: DoNotSchedule")
    for kind in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        policy = constraint.get(kind)
        if policy is not None and policy not in ("Honor", "Ignore"):
            yield SPREAD.unsupported((*path, kind), policy, ("Honor", "Ignore"))


def check_gates(spec: Object, path: Path) -> Iterator[Problem]:
    """Yield gates that are no qualified names, and scheduling gates that occur twice."""
    for index, gate in each(spec, "readinessGates"):
        name = gate.get("conditionType") or ""
        if detail := names.label_key(name):
            yield SCHEDULING.invalid((*path, "readinessGates", index, "conditionType"), name, detail)
    seen = set()
    for index, gate in each(spec, "schedulingGates"):
        name = text(gate, "name")
        at = (*path, "schedulingGates", index, "name")
        if detail := names.label_key(name):
            yield SCHEDULING.invalid(at, name, detail)
        if name in seen:
            yield SCHEDULING.duplicate(at, name)
        seen.add(name)
