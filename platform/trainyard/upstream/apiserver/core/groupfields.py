"""Fields of PodGroups and Workloads behind further gates: left out while the gate is off, and checked while it is on.

Source: k8s.io/api v0.37.2 scheduling/v1beta1/types.go, v1alpha3/types.go (declarative validation); k8s.io/kubernetes
v1.37.2 pkg/apis/scheduling/validation/validation.go, pkg/registry/scheduling strategies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from trainyard.upstream.apiserver.core.podgroup import (
    GROUP,
    HIGHEST,
    MODES,
    POLICIES,
    check_name,
    check_policies,
    check_union,
    unchanged,
)
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem

COMPOSITE: Final = "CompositePodGroup"
GATED: dict[str, str] = {
    "schedulingConstraints": "TopologyAwareWorkloadScheduling",
    "resourceClaims": "DRAWorkloadResourceClaims",
    "preemptionPolicy": "PodGroupPreemptionPolicy",
}
"""Fields of a PodGroup, or a template of one, with their gates."""
PARENT = {"parentCompositePodGroupName": COMPOSITE}
PREEMPTION = {"preemptionPolicy": GATED["preemptionPolicy"]}
"""Fields of a composite group with their gates; its levels of a topology need none but its own."""

_PREEMPTION = ("Never", "PreemptLowerPriority")
_MOST_CLAIMS, _MOST_LEVELS = 4, 1
_CLAIMED = ("resourceClaimName", "resourceClaimTemplateName")


def check_fields(spec: Object, at: Path, fields: Collection[str], old: Object | None) -> Iterator[Problem]:
    """Yield the problems with fields of a group whose gates are on."""
    if "schedulingConstraints" in fields:
        yield from check_constraints(spec, at)
    if "resourceClaims" in fields:
        yield from check_claims(spec, at)
    policy = spec.get("preemptionPolicy")
    if "preemptionPolicy" in fields and policy is not None and policy not in _PREEMPTION:
        yield GROUP.unsupported((*at, "preemptionPolicy"), policy, _PREEMPTION)
    if old is not None:
        yield from unchanged(spec, old, tuple(fields), at)


def check_constraints(spec: Object, at: Path) -> Iterator[Problem]:
    """Yield levels of a topology that are too many, or no labels."""
    constraints, where = inner(spec, "schedulingConstraints"), (*at, "schedulingConstraints", "topology")
    if count(constraints, "topology") > _MOST_LEVELS:
        yield GROUP.too_many(where, count(constraints, "topology"), _MOST_LEVELS)
        return
    for index, level in each(constraints, "topology"):
        yield from check_name(level, "key", names.label_key, (*where, index, "key"))


def check_claims(spec: Object, at: Path) -> Iterator[Problem]:
    """Yield claims that are too many, have one name, or name no claim, or two."""
    where, known = (*at, "resourceClaims"), set[str]()
    if count(spec, "resourceClaims") > _MOST_CLAIMS:
        yield GROUP.too_many(where, count(spec, "resourceClaims"), _MOST_CLAIMS)
        return
    for index, claim in each(spec, "resourceClaims"):
        name = text(claim, "name")
        if name in known:
            yield GROUP.duplicate((*where, index), name)
        known.add(name)
        yield from check_name(claim, "name", names.dns_label, (*where, index, "name"))
        yield from check_union(claim, _CLAIMED, (*where, index))
        for field in _CLAIMED:
            if claim.get(field) is not None and (detail := names.dns_subdomain(text(claim, field))):
                yield GROUP.invalid((*where, index, field), claim.get(field), detail)


def check_parent(spec: Object, at: Path) -> Iterator[Problem]:
    """Yield a parent that has no valid name, or that comes without the Workload."""
    parent = spec.get("parentCompositePodGroupName")
    if parent is None:
        return
    if detail := names.dns_subdomain(text(spec, "parentCompositePodGroupName")):
        yield GROUP.invalid((*at, "parentCompositePodGroupName"), parent, detail)
    if spec.get("workloadRef") is None:
        yield GROUP.required((*at, "workloadRef"), "must be set with parentCompositePodGroupName")


def check_composite(spec: Object, at: Path, gates: Collection[str], old: Object | None) -> Iterator[Problem]:
    """Yield the problems with a composite group, or a template of one, but for its children."""
    policy, mode = child(spec, "schedulingPolicy") or {}, child(spec, "disruptionMode")
    yield from check_union(policy, POLICIES, (*at, "schedulingPolicy"))
    gang, where = child(policy, "gang"), (*at, "schedulingPolicy", "gang", "minGroupCount")
    least = number(gang, "minGroupCount") if gang is not None else None
    if gang is not None and not least:
        yield GROUP.required(where)
    elif least is not None and least < 1:
        yield GROUP.invalid(where, least, "must be greater than or equal to 1")
    if mode is not None:
        yield from check_union(mode, MODES, (*at, "disruptionMode"))
    yield from check_priority(spec, at)
    on = [field for field, gate in PREEMPTION.items() if gate in gates]
    yield from check_fields(spec, at, ["schedulingConstraints", *on], old)


def check_priority(spec: Object, at: Path) -> Iterator[Problem]:
    """Yield a class of a priority that is no name, and a priority that is too high."""
    priority = number(spec, "priority")
    if priority is not None and priority > HIGHEST:
        yield GROUP.invalid((*at, "priority"), priority, f"must be less than or equal to {HIGHEST}")
    if (name := text(spec, "priorityClassName")) and (detail := names.dns_subdomain(name)):
        yield GROUP.invalid((*at, "priorityClassName"), name, detail)


def check_leaf(template: Object, at: Path, gates: Collection[str], old: Object | None) -> Iterator[Problem]:
    """Yield the problems with a template of a PodGroup below a composite one."""
    yield from check_policies(template, at)
    yield from check_fields(template, at, [field for field, gate in GATED.items() if gate in gates], old)
