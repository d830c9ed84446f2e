"""Workloads of scheduling.k8s.io/v1beta1: templates of PodGroups, as the Job controller makes them.

Source: k8s.io/api v0.37.2 scheduling/v1beta1/types.go (declarative validation); k8s.io/kubernetes v1.37.2
pkg/apis/scheduling/validation/validation.go ValidateWorkloadSpec.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.upstream.apiserver.core.podgroup import (
    CHANGE,
    GROUP,
    KEPT,
    check_name,
    check_policies,
    same_policy,
    unchanged,
)
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem

MOST = 8
"""Templates that a Workload may have."""


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a Workload."""
    spec, at = inner(value, "spec"), ("spec", "podGroupTemplates")
    yield from check_controller(child(spec, "controllerRef"))
    templates = each(spec, "podGroupTemplates")
    if not templates and not spec.get("compositePodGroupTemplates"):
        yield GROUP.invalid(("spec",), None, "must specify podGroupTemplates")
    if count(spec, "podGroupTemplates") > MOST:
        yield GROUP.too_many(at, count(spec, "podGroupTemplates"), MOST)
    known: set[str] = set()
    for index, template in templates:
        name = text(template, "name")
        yield from check_name(template, "name", names.dns_label, (*at, index, "name"))
        if name in known:
            yield GROUP.duplicate((*at, index), name)
        known.add(name)
        yield from check_policies(template, (*at, index))
    yield from check_priorities([template for _, template in templates])
    if old is not None:
        yield from check_change(spec, inner(old, "spec"))


def check_change(spec: Object, before: Object) -> Iterator[Problem]:
    """Yield the problems with an update of a Workload."""
    yield from unchanged(spec, before, ("controllerRef",), ("spec",))
    at: Path = ("spec", "podGroupTemplates")
    there = {text(template, "name"): template for _, template in each(before, "podGroupTemplates")}
    now = {text(template, "name") for _, template in each(spec, "podGroupTemplates")}
    if there.keys() - now:
        yield CHANGE.forbidden(at, "item may not be removed")
    for index, template in each(spec, "podGroupTemplates"):
        other = there.get(text(template, "name"))
        if other is None:
            yield CHANGE.forbidden((*at, index), "item may not be added")
        else:
            yield from unchanged(template, other, KEPT, (*at, index))
            yield from same_policy(template, other, (*at, index))


def check_controller(reference: Object | None) -> Iterator[Problem]:
    """Yield the problems with the object that a Workload is made for."""
    if reference is None:
        return
    at: Path = ("spec", "controllerRef")
    for name in ("kind", "name"):
        yield from check_name(reference, name, names.path_segment, (*at, name))
    if text(reference, "apiGroup"):
        yield from check_name(reference, "apiGroup", names.dns_subdomain, (*at, "apiGroup"))


def check_priorities(templates: Sequence[Object]) -> Iterator[Problem]:
    """Yield the problem of templates that do not share one priority."""
    if len({(text(template, "priorityClassName"), number(template, "priority")) for template in templates}) > 1:
        yield GROUP.invalid(("spec",), None, "podGroupTemplates must have one priority")
