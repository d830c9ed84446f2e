"""Deployments, ReplicaSets and DaemonSets, and what all controllers that keep pods running have in common.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/apps/validation/validation.go and pkg/apis/apps/v1/defaults.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.fractions import amount, check_fraction
from trainyard.upstream.apiserver.core.pods.defaults import default_template
from trainyard.upstream.apiserver.core.pods.options import Options, keep_options, options_of
from trainyard.upstream.apiserver.core.pods.template import check_template
from trainyard.upstream.apiserver.core.selectors import check_label_selector, is_empty, matches
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, fill, fill_absent, inner, integer, number
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/apps/validation/validation.go"
CONTROLLER = Rule(
    "core/controller",
    f"{SOURCE} ValidateDeploymentSpec",
    title="A Deployment, DaemonSet or ReplicaSet has a selector, a pod template and valid counts.",
    fix="add spec.selector and spec.template; use the number or value that the message gives",
)
SELECTOR = Rule(
    "core/selector",
    f"{SOURCE} ValidatePodTemplateSpecForReplicaSet",
    title="A controller's selector is not empty and matches the labels of its pod template.",
    fix="copy the labels of spec.selector into spec.template.metadata.labels",
)
STRATEGY = Rule(
    "core/update-strategy",
    f"{SOURCE} ValidateDeploymentStrategy",
    title="The update strategy of a Deployment or DaemonSet is consistent.",
    fix="use a valid type, and let maxSurge or maxUnavailable be above 0",
)
IMMUTABLE = Rule(
    "update/selector",
    f"{SOURCE} ValidateDeploymentUpdate",
    title="An update keeps the selector of a Deployment, DaemonSet or ReplicaSet.",
    fix="restore the selector, or create a new object under another name",
)


ANNOTATIONS = CONTROLLER.of_source("k8s.io/kubernetes v1.35.4 pkg/apis/apps/v1/conversion.go")
_ROLLBACK, _GENERATION = "deprecated.deployment.rollback.to", "deprecated.daemonset.template.generation"
_WHOLE = re.compile("[+-]?[0-9]+")


def default_deployment(value: Object, minor: int) -> None:
    """Default a Deployment."""
    if (spec := child(value, "spec")) is None:
        return
    fill_absent(spec, "replicas", 1)
    fill_absent(spec, "revisionHistoryLimit", 10)
    fill_absent(spec, "progressDeadlineSeconds", 600)
    _rolling(spec, "strategy", {"maxUnavailable": "25%", "maxSurge": "25%"})
    default_template(spec, minor)


def default_daemon_set(value: Object, minor: int) -> None:
    """Default a DaemonSet."""
    if (spec := child(value, "spec")) is None:
        return
    fill_absent(spec, "revisionHistoryLimit", 10)
    _rolling(spec, "updateStrategy", {"maxUnavailable": 1, "maxSurge": 0})
    default_template(spec, minor)


def _rolling(spec: Object, field: str, defaults: Object) -> None:
    fill_absent(spec, field, {})
    if (strategy := child(spec, field)) is None:
        return
    fill(strategy, "type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        fill_absent(strategy, "rollingUpdate", {})
        if (rolling := child(strategy, "rollingUpdate")) is not None:
            for key, default in defaults.items():
                fill_absent(rolling, key, default)


def default_replica_set(value: Object, minor: int) -> None:
    """Default a ReplicaSet."""
    if (spec := child(value, "spec")) is not None:
        fill_absent(spec, "replicas", 1)
        default_template(spec, minor)


def check_deployment(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a Deployment, and a change of its selector."""
    spec = inner(value, "spec")
    fields = ("replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    yield from check_counts(spec, ("spec",), fields)
    deadline, ready = number(spec, "progressDeadlineSeconds"), number(spec, "minReadySeconds") or 0
    if deadline is not None and deadline <= ready:
        yield CONTROLLER.invalid(("spec", "progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds")
    yield from _check_strategy(inner(spec, "strategy"), ("spec", "strategy"))
    yield from _check_annotation(value, _ROLLBACK, least=0)
    yield from _check_replicated(value, old, options_for(old, kubernetes))


def check_replica_set(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a ReplicaSet, and a change of its selector."""
    yield from check_counts(inner(value, "spec"), ("spec",), ("replicas", "minReadySeconds"))
    yield from _check_replicated(value, old, options_for(old, kubernetes))


def check_daemon_set(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a DaemonSet, and a change of its selector."""
    spec = inner(value, "spec")
    yield from check_counts(spec, ("spec",), ("minReadySeconds", "revisionHistoryLimit"))
    yield from _check_daemon_strategy(inner(spec, "updateStrategy"), ("spec", "updateStrategy"))
    yield from _check_annotation(value, _GENERATION, least=-(2**63))
    yield from _check_replicated(value, old, options_for(old, kubernetes))


def _check_annotation(value: Object, name: str, *, least: int) -> Iterator[Problem]:
    """Yield an annotation in which older versions of a kind kept a number, where it holds none."""
    given = inner(value, "metadata", "annotations").get(name)
    if not isinstance(given, str) or (not given and name == _ROLLBACK):
        return
    if not _WHOLE.fullmatch(given) or not least <= integer(given) < 2**63:
        yield ANNOTATIONS.invalid(("metadata", "annotations", name), given, f"must be an integer of at least {least}")


def options_for(old: Object | None, kubernetes: str) -> Options:
    """Return the pod options of a controller: those of its release, and what its old template may keep."""
    options = options_of(minor(kubernetes))
    return options if old is None else keep_options(options, inner(old, "spec", "template", "spec"))


def check_counts(spec: Object, path: Path, fields: tuple[str, ...]) -> Iterator[Problem]:
    """Yield counts below zero."""
    for field in fields:
        value = number(spec, field)
        if value is not None and value < 0:
            yield CONTROLLER.invalid((*path, field), value, "must be greater than or equal to 0")


def check_selector(spec: Object, path: Path) -> Iterator[Problem]:
    """Yield a selector that is missing, empty or malformed, or does not select the template's pods."""
    selector = child(spec, "selector")
    at = (*path, "selector")
    if selector is None:
        if not spec.get("selector"):
            yield CONTROLLER.required(at)
        return
    yield from check_label_selector(selector, at)
    if is_empty(selector):
        yield SELECTOR.invalid(at, selector, "an empty selector is not allowed")
    labels = inner(spec, "template", "metadata", "labels")
    if matches(selector, labels) is False:
        yield SELECTOR.invalid((*path, "template", "metadata", "labels"), labels, "the selector does not match them")


def check_running_template(spec: Object, options: Options) -> Iterator[Problem]:
    """Yield the problems with the template of pods that are to run for ever."""
    template = child(spec, "template") or EMPTY
    yield from check_template(template, ("spec", "template"), options)
    yield from check_endless(template)


def check_endless(template: Object) -> Iterator[Problem]:
    """Yield restart policies and deadlines that would end a pod."""
    pod, path = inner(template, "spec"), ("spec", "template", "spec")
    policy = pod.get("restartPolicy") or "Always"
    if policy != "Always":
        yield CONTROLLER.unsupported((*path, "restartPolicy"), policy, ("Always",))
    if pod.get("activeDeadlineSeconds") is not None:
        yield CONTROLLER.forbidden((*path, "activeDeadlineSeconds"), "not supported here; only pods of a Job may end")


def _check_replicated(value: Object, old: Object | None, options: Options) -> Iterator[Problem]:
    spec = inner(value, "spec")
    yield from check_selector(spec, ("spec",))
    yield from check_running_template(spec, options)
    if old is not None:
        before = inner(old, "spec").get("selector")
        yield from check_immutable(spec.get("selector"), before, ("spec", "selector"), IMMUTABLE)


def _check_strategy(strategy: Object, path: Path) -> Iterator[Problem]:
    kind, rolling = strategy.get("type") or "RollingUpdate", child(strategy, "rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            yield STRATEGY.forbidden((*path, "rollingUpdate"), "may not be specified when type is Recreate")
    elif kind != "RollingUpdate":
        yield STRATEGY.unsupported((*path, "type"), kind, ("Recreate", "RollingUpdate"))
    elif rolling is not None:
        at = (*path, "rollingUpdate")
        yield from check_fraction(rolling.get("maxUnavailable"), (*at, "maxUnavailable"), STRATEGY)
        yield from check_fraction(rolling.get("maxSurge"), (*at, "maxSurge"), STRATEGY, whole=False)
        if amount(rolling.get("maxUnavailable")) == 0 and amount(rolling.get("maxSurge")) == 0:
            yield STRATEGY.invalid((*at, "maxUnavailable"), 0, "may not be 0 when maxSurge is 0")


def _check_daemon_strategy(strategy: Object, path: Path) -> Iterator[Problem]:
    kind, rolling = strategy.get("type") or "RollingUpdate", child(strategy, "rollingUpdate")
    if kind == "OnDelete":
        return
    if kind != "RollingUpdate":
        yield STRATEGY.unsupported((*path, "type"), kind, ("OnDelete", "RollingUpdate"))
    elif rolling is not None:
        at = (*path, "rollingUpdate")
        for field in ("maxUnavailable", "maxSurge"):
            yield from check_fraction(rolling.get(field), (*at, field), STRATEGY)
        unavailable, surge = amount(rolling.get("maxUnavailable")), amount(rolling.get("maxSurge"))
        if unavailable and surge:
            yield STRATEGY.invalid((*at, "maxSurge"), rolling["maxSurge"], "may not be set when maxUnavailable is")
        elif unavailable == 0 and surge == 0:
            yield STRATEGY.required((*at, "maxUnavailable"), "cannot be 0 when maxSurge is 0")
