"""HorizontalPodAutoscalers: bounds, metrics and scaling behavior.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/autoscaling/validation/validation.go and
pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core.amounts import check_quantity, nanos
from trainyard.upstream.apiserver.core.resourcenames import container_resource_name
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, fill_absent, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/autoscaling/validation/validation.go"
SCALER = Rule(
    "core/autoscaler",
    f"{SOURCE} validateHorizontalPodAutoscalerSpec",
    title="A HorizontalPodAutoscaler has a target and valid replica limits.",
    fix="set scaleTargetRef and maxReplicas; maxReplicas must be at least minReplicas",
)
METRIC = Rule(
    "core/autoscaler-metric",
    f"{SOURCE} validateMetricSpec",
    title="Each metric of a HorizontalPodAutoscaler has one source and one target.",
    fix="fill in the source that type names, with one positive target",
)
BEHAVIOR = Rule(
    "core/autoscaler-behavior",
    f"{SOURCE} validateScalingRules",
    title="Scaling behavior of a HorizontalPodAutoscaler has valid policies and windows.",
    fix="correct the policy or the window that the message names",
)

METRICS = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_ORDER = ("object", "external", "pods", "resource", "containerResource")
_TARGETS = ("Utilization", "Value", "AverageValue")
_SELECTS = ("Disabled", "Max", "Min")
_ZERO_MINOR = 37
"""From here on nobody needs to have a replica (gate HPAScaleToZero)."""
_OF_ZERO = ("Object", "External")
_NEEDS_OTHERS = "scaling to zero replicas needs an Object or External metric"
_METRICS_OF_V1 = "autoscaling.alpha.kubernetes.io/metrics"
"""Where version v1 keeps the metrics that its fields cannot say (pkg/apis/autoscaling/v1/conversion.go)."""
_LONGEST_WINDOW = 3600
_LONGEST_PERIOD = 1800
_SCALE_POLICIES = {
    "scaleUp": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
    "scaleDown": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}


def default(value: Object, minor: int) -> None:
    """Default a HorizontalPodAutoscaler; tolerances count from Kubernetes 1.35 on, and v1 has no list of metrics."""
    if (spec := child(value, "spec")) is None:
        return
    fill_absent(spec, "minReplicas", 1)
    if value.get("apiVersion") == "autoscaling/v1":
        return
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    if (behavior := child(spec, "behavior")) is None:
        return
    for direction, policies in _SCALE_POLICIES.items():
        fill_absent(behavior, direction, {})
        if (rules := child(behavior, direction)) is None:
            continue
        fill_absent(rules, "selectPolicy", "Max")
        if rules.get("policies") is None:
            rules["policies"] = [dict(policy) for policy in policies]
        if direction == "scaleUp":
            fill_absent(rules, "stabilizationWindowSeconds", 0)
        if minor < 35:
            rules.pop("tolerance", None)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a HorizontalPodAutoscaler of any version."""
    spec, before = inner(value, "spec"), inner(old or {}, "spec")
    low, high = number(spec, "minReplicas"), number(spec, "maxReplicas") or 0
    floor = 0 if number(before, "minReplicas") == 0 or minor(kubernetes) >= _ZERO_MINOR else 1
    if low is not None and low < floor:
        yield SCALER.invalid(("spec", "minReplicas"), low, f"must be greater than or equal to {floor}")
    if high < 1:
        yield SCALER.invalid(("spec", "maxReplicas"), high, "must be greater than 0")
    if low is not None and high < low:
        yield SCALER.invalid(("spec", "maxReplicas"), high, "must be greater than or equal to minReplicas")
    target, previous = inner(spec, "scaleTargetRef"), inner(before, "scaleTargetRef")
    known = old is not None and all(target.get(key) == previous.get(key) for key in ("apiVersion", "kind"))
    core = target.get("kind") == "ReplicationController"
    yield from _check_reference(target, ("spec", "scaleTargetRef"), core=core, known=known)
    if value.get("apiVersion") == "autoscaling/v1":
        percent = number(spec, "targetCPUUtilizationPercentage")
        if percent is not None and percent < 1:
            yield METRIC.invalid(("spec", "targetCPUUtilizationPercentage"), percent, "must be greater than 0")
        if low == 0 and _METRICS_OF_V1 not in inner(value, "metadata", "annotations"):
            yield METRIC.forbidden(("spec", "minReplicas"), _NEEDS_OTHERS)
        return
    for index, metric in each(spec, "metrics"):
        yield from _check_metric(metric, ("spec", "metrics", index))
    if low == 0 and not any(metric.get("type") in _OF_ZERO for _, metric in each(spec, "metrics")):
        yield METRIC.forbidden(("spec", "metrics"), _NEEDS_OTHERS)
    for direction in ("scaleUp", "scaleDown"):
        if (rules := child(inner(spec, "behavior"), direction)) is not None:
            yield from _check_rules(rules, ("spec", "behavior", direction))


def _check_reference(target: Object, path: Path, *, core: bool, known: bool = False) -> Iterator[Problem]:
    for field in ("kind", "name"):
        value = target.get(field)
        if not value:
            yield SCALER.required((*path, field))
        elif detail := names.path_segment(value):
            yield SCALER.invalid((*path, field), value, detail)
    version = text(target, "apiVersion")
    if known:
        return
    if version.count("/") > 1:
        yield SCALER.invalid((*path, "apiVersion"), version, "must be group/version")
    elif not core and not version.rpartition("/")[0] and not isinstance(target.get("apiVersion"), dict | list):
        yield SCALER.invalid((*path, "apiVersion"), version, "must specify an API group")


def _check_metric(metric: Object, path: Path) -> Iterator[Problem]:
    kind = metric.get("type")
    if not kind:
        yield METRIC.required((*path, "type"))
    elif kind not in tuple(METRICS):
        yield METRIC.unsupported((*path, "type"), kind, tuple(METRICS))
    expected = METRICS.get(text(metric, "type"))
    if expected and child(metric, expected) is None:
        yield METRIC.required((*path, expected), "must populate information for the given metric source")
    present = [field for field in _ORDER if child(metric, field) is not None]
    for field in present:
        if field != expected and len(present) != 1:
            yield METRIC.forbidden((*path, field), "must populate the given metric source only")
    for field in present[:1]:
        yield from _check_source(field, metric[field], (*path, field))


def _check_source(kind: str, source: Object, path: Path) -> Iterator[Problem]:
    target, at = inner(source, "target"), (*path, "target")
    choices: tuple[str, ...]
    yield from _check_target(target, at)
    if kind == "object":
        yield from _check_reference(inner(source, "describedObject"), (*path, "describedObject"), core=True)
    if kind in ("resource", "containerResource"):
        yield from _check_resource(kind, source, path)
        choices = ("averageUtilization", "averageValue")
    else:
        yield from _check_metric_name(inner(source, "metric"), (*path, "metric"))
        choices = ("averageValue",) if kind == "pods" else ("averageValue", "value")
    given = [field for field in choices if target.get(field) is not None]
    if not given:
        yield METRIC.required((*at, choices[0]), "must set a target: " + " or ".join(choices))
    if len(given) > 1 and kind != "object":
        yield METRIC.forbidden((*at, given[1]), "may not set both: " + " and ".join(given))


def _check_metric_name(metric: Object, path: Path) -> Iterator[Problem]:
    name = metric.get("name")
    if not name:
        yield METRIC.required((*path, "name"))
    elif detail := names.path_segment(name):
        yield METRIC.invalid((*path, "name"), name, detail)


def _check_resource(kind: str, source: Object, path: Path) -> Iterator[Problem]:
    name, container = source.get("name"), source.get("container")
    if not name:
        yield METRIC.required((*path, "name"))
    if kind == "resource":
        return
    if isinstance(name, str) and name and (detail := container_resource_name(name)):
        yield METRIC.invalid((*path, "name"), name, detail)
    if not container:
        yield METRIC.required((*path, "container"))
    elif detail := names.dns_label(container):
        yield METRIC.invalid((*path, "container"), container, detail)


def _check_target(target: Object, path: Path) -> Iterator[Problem]:
    kind = target.get("type")
    if not kind:
        yield METRIC.required((*path, "type"))
    elif kind not in _TARGETS:
        yield METRIC.invalid((*path, "type"), kind, "must be either Utilization, Value, or AverageValue")
    for field in ("value", "averageValue"):
        amount = target.get(field)
        if amount is None:
            continue
        yield from check_quantity(amount, (*path, field))
        if (size := nanos(amount)) is not None and size <= 0:
            yield METRIC.invalid((*path, field), amount, "must be positive")
    utilization = number(target, "averageUtilization")
    if utilization is not None and utilization < 1:
        yield METRIC.invalid((*path, "averageUtilization"), utilization, "must be greater than 0")


def _check_rules(rules: Object, path: Path) -> Iterator[Problem]:
    window, select = number(rules, "stabilizationWindowSeconds"), rules.get("selectPolicy")
    if window is not None and not 0 <= window <= _LONGEST_WINDOW:
        yield BEHAVIOR.invalid((*path, "stabilizationWindowSeconds"), window, f"must be 0 to {_LONGEST_WINDOW}")
    if select is not None and select not in _SELECTS:
        yield BEHAVIOR.unsupported((*path, "selectPolicy"), select, _SELECTS)
    if not count(rules, "policies"):
        yield BEHAVIOR.required((*path, "policies"), "must specify at least one policy")
    for index, policy in each(rules, "policies"):
        at = (*path, "policies", index)
        kind, amount, period = policy.get("type") or "", number(policy, "value") or 0, number(policy, "periodSeconds")
        if kind not in ("Percent", "Pods"):
            yield BEHAVIOR.unsupported((*at, "type"), kind, ("Percent", "Pods"))
        if amount <= 0:
            yield BEHAVIOR.invalid((*at, "value"), amount, "must be greater than zero")
        if not 0 < (period or 0) <= _LONGEST_PERIOD:
            yield BEHAVIOR.invalid((*at, "periodSeconds"), period, f"must be 1 to {_LONGEST_PERIOD}")
    tolerance = rules.get("tolerance")
    if tolerance is not None:
        yield from check_quantity(tolerance, (*path, "tolerance"))
        if (nanos(tolerance) or 0) < 0:
            yield BEHAVIOR.invalid((*path, "tolerance"), tolerance, "must be greater than or equal to 0")
