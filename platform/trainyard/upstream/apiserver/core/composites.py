"""CompositePodGroups and the trees of templates that Workloads have of them, with the gate CompositePodGroup.

Source: k8s.io/api v0.37.2 scheduling/v1alpha3/types.go; k8s.io/kubernetes v1.37.2
pkg/apis/scheduling/validation/validation.go ValidateWorkloadSpec, pkg/apis/scheduling/types.go,
plugin/pkg/admission/priority/admission.go admitPodGroup.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from trainyard.upstream.apiserver.core.gangs import IGNORED
from trainyard.upstream.apiserver.core.groupfields import (
    COMPOSITE,
    GATED,
    PARENT,
    PREEMPTION,
    check_composite,
    check_fields,
    check_leaf,
    check_parent,
)
from trainyard.upstream.apiserver.core.podgroup import CHANGE, GROUP, HIGHEST, KEPT, check_name, same_policy, unchanged
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem

DEPTH = 4
"""Templates of groups that may be below one another."""
MOST = 8
LEAVES, COMPOSITES = "podGroupTemplates", "compositePodGroupTemplates"
Gates = Collection[str]


def check(value: Object, kind: str, *, gates: Gates, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with what gates bring to a PodGroup, a Workload or a CompositePodGroup."""
    spec, at = inner(value, "spec"), ("spec",)
    before = None if old is None else inner(old, "spec")
    if kind == "PodGroup":
        fields = {**GATED, **PARENT}
        yield from left_out(spec, at, fields, gates, before)
        on = [field for field, gate in fields.items() if gate in gates]
        yield from check_fields(spec, at, on, before)
        if COMPOSITE in gates:
            yield from check_parent(spec, at)
        if before is None:
            yield from check_class(spec, at, gates)
    elif kind == "Workload":
        yield from check_workload(spec, at, gates, before)
    elif kind == "CompositePodGroup":
        yield from check_group(spec, at, gates, before)


def left_out(spec: Object, at: Path, fields: dict[str, str], gates: Gates, before: Object | None) -> Iterator[Problem]:
    """Yield fields that the server leaves out, as their gates are off and the stored object has none of them."""
    for field, gate in fields.items():
        if spec.get(field) not in (None, []) and gate not in gates and not (before or {}).get(field):
            detail = f"the server leaves it out, as its feature gate {gate} is off"
            yield replace(IGNORED.forbidden((*at, field), detail), warns=True)


def check_group(spec: Object, at: Path, gates: Gates, before: Object | None) -> Iterator[Problem]:
    """Yield the problems with a CompositePodGroup."""
    yield from left_out(spec, at, PREEMPTION, gates, before)
    yield from check_composite(spec, at, gates, before)
    if text(spec, "priorityClassName").startswith("system-"):
        detail = f"its priority is above {HIGHEST}, which groups may not have"
        yield GROUP.invalid((*at, "priorityClassName"), spec.get("priorityClassName"), detail)
    reference = child(spec, "workloadRef")
    if reference is None:
        yield GROUP.required((*at, "workloadRef"))
    else:
        for name, form in (("workloadName", names.dns_subdomain), ("templateName", names.dns_label)):
            yield from check_name(reference, name, form, (*at, "workloadRef", name))
    yield from check_parent({**spec, "workloadRef": {}}, at)
    if before is None:
        yield from check_class(spec, at, gates)
    else:
        kept = ("parentCompositePodGroupName", "workloadRef", "schedulingPolicy", *KEPT)
        yield from unchanged(spec, before, kept, at)


def check_class(spec: Object, at: Path, gates: Gates) -> Iterator[Problem]:
    """Yield a priority and a preemption policy that no class gives: admission computes both."""
    if text(spec, "priorityClassName"):
        return
    priority, policy = number(spec, "priority"), spec.get("preemptionPolicy")
    if priority and priority <= HIGHEST:
        yield GROUP.forbidden((*at, "priority"), "is computed from priorityClassName and would be 0")
    if GATED["preemptionPolicy"] in gates and policy == "Never":
        detail = "is computed from priorityClassName and would be PreemptLowerPriority"
        yield GROUP.forbidden((*at, "preemptionPolicy"), detail)


def check_workload(spec: Object, at: Path, gates: Gates, before: Object | None) -> Iterator[Problem]:
    """Yield the problems with the templates of a Workload, for what gates bring to them."""
    there = {text(one, "name"): one for _, one in each(before or {}, LEAVES)}
    on = [field for field, gate in GATED.items() if gate in gates]
    for index, template in each(spec, LEAVES):
        other = there.get(text(template, "name"))
        yield from left_out(template, (*at, LEAVES, index), GATED, gates, other)
        yield from check_fields(template, (*at, LEAVES, index), on, other)
    if not spec.get(COMPOSITES):
        if (before or {}).get(COMPOSITES):
            yield CHANGE.forbidden((*at, COMPOSITES), "item may not be removed")
        return
    if COMPOSITE not in gates and not (before or {}).get(COMPOSITES):
        yield from left_out(spec, at, {COMPOSITES: COMPOSITE}, gates, before)
        if not spec.get(LEAVES):
            yield GROUP.invalid(at, None, f"must specify {LEAVES}")
        return
    if spec.get(LEAVES):
        yield GROUP.invalid(at, [LEAVES, COMPOSITES], f"must specify exactly one of {LEAVES} and {COMPOSITES}")
    yield from check_children(spec, at, COMPOSITES, gates, before)
    yield from check_tree(spec, at)


def check_children(owner: Object, at: Path, field: str, gates: Gates, before: Object | None) -> Iterator[Problem]:
    """Yield the problems with the templates under a field, and with all below them."""
    where, known = (*at, field), set[str]()
    there = {text(one, "name"): one for _, one in each(before or {}, field)}
    if count(owner, field) > MOST:
        yield GROUP.too_many(where, count(owner, field), MOST)
        return
    if before is not None:
        wrong = list(check_same(owner, where, field, there))
        yield from wrong
        if wrong:
            return
    for index, template in each(owner, field):
        name, place = text(template, "name"), (*where, index)
        if name in known:
            yield GROUP.duplicate(place, name)
        known.add(name)
        yield from check_name(template, "name", names.dns_label, (*place, "name"))
        other = there.get(name)
        if field == LEAVES:
            yield from left_out(template, place, GATED, gates, other)
            yield from check_leaf(template, place, gates, other)
        else:
            yield from left_out(template, place, PREEMPTION, gates, other)
            yield from check_composite(template, place, gates, other)
            for below in (LEAVES, COMPOSITES):
                yield from check_children(template, place, below, gates, None if before is None else other or {})
        if other is not None:
            yield from unchanged(template, other, KEPT, place)
            yield from same_policy(template, other, place)


def check_same(owner: Object, where: Path, field: str, there: dict[str, Object]) -> Iterator[Problem]:
    """Yield templates that an update takes away or adds."""
    now = {text(template, "name") for _, template in each(owner, field)}
    if there.keys() - now:
        yield CHANGE.forbidden(where, "item may not be removed")
    for index, template in each(owner, field):
        if text(template, "name") not in there:
            yield CHANGE.forbidden((*where, index), "item may not be added")


def check_tree(spec: Object, at: Path) -> Iterator[Problem]:
    """Yield the problems with a tree of templates: repeated names, its depth, priorities, and ends without groups."""
    yield from check_names(spec, at, set())
    for index, template in each(spec, COMPOSITES):
        if depth(template) >= DEPTH:
            message = f"the templates may be {DEPTH - 1} composite ones deep"
            yield GROUP.invalid((*at, COMPOSITES, index), text(template, "name"), message)
        yield from check_ends(template, (*at, COMPOSITES, index))
    if len(set(priorities(spec))) > 1:
        yield GROUP.invalid(at, None, "all templates must have one priority and one priorityClassName")


def check_names(owner: Object, at: Path, known: set[str]) -> Iterator[Problem]:
    """Yield names that a template elsewhere in the tree has; those of one list are another's to find."""
    for field in (LEAVES, COMPOSITES):
        own = {text(template, "name") for _, template in each(owner, field)}
        for index, template in each(owner, field):
            if text(template, "name") in known:
                yield GROUP.duplicate((*at, field, index, "name"), text(template, "name"))
        known |= own
    for index, template in each(owner, COMPOSITES):
        yield from check_names(template, (*at, COMPOSITES, index), known)


def check_ends(template: Object, at: Path) -> Iterator[Problem]:
    """Yield composite templates without a child."""
    if not count(template, LEAVES) and not count(template, COMPOSITES):
        yield GROUP.invalid(at, text(template, "name"), f"must have a child in {LEAVES} or {COMPOSITES}")
    for index, below in each(template, COMPOSITES):
        yield from check_ends(below, (*at, COMPOSITES, index))


def depth(template: Object) -> int:
    """Return how many composite templates are below one another, this one with them."""
    return 1 + max((depth(below) for _, below in each(template, COMPOSITES)), default=0)


def priorities(owner: Object) -> Iterator[tuple[str, int | None]]:
    """Yield class and number of the priority of each template in a tree."""
    for field in (LEAVES, COMPOSITES):
        for _, template in each(owner, field):
            yield text(template, "priorityClassName"), number(template, "priority")
            yield from priorities(template) if field == COMPOSITES else ()
