"""PodGroups of scheduling.k8s.io/v1beta1, by which kube-scheduler binds gangs.

Fields of gates that are off (levels of a topology, claims, composite groups, preemption policies) are left out by the
server without a word, and so nothing is said of them.
Source: k8s.io/api v0.37.2 scheduling/v1beta1/types.go (declarative validation); k8s.io/kubernetes v1.37.2
pkg/apis/scheduling/validation/validation.go, pkg/registry/scheduling/podgroup/strategy.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.upstream.apiserver.core.shapes import Object, child, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/api v0.37.2 scheduling/v1beta1/types.go"
GROUP = Rule(
    "core/pod-group",
    SOURCE,
    title="A PodGroup, or a template of one, has exactly one policy, and a gang at least one pod.",
    fix="set exactly one of basic and gang, and minCount to 1 or more",
)
CHANGE = Rule(
    "update/pod-group",
    SOURCE,
    title="An update changes nothing of a PodGroup or Workload but minCount.",
    fix="restore the field, or create another object",
)

POLICIES, MODES = ("basic", "gang"), ("single", "all")
HIGHEST = 1_000_000_000
KEPT = ("disruptionMode", "priorityClassName", "priority")
"""Fields of a group that never change."""


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a PodGroup."""
    spec, at = inner(value, "spec"), ("spec",)
    yield from check_policies(spec, at)
    if text(spec, "priorityClassName").startswith("system-"):
        detail = f"its priority is above {HIGHEST}, which groups may not have"
        yield GROUP.invalid((*at, "priorityClassName"), spec.get("priorityClassName"), detail)
    reference = child(spec, "workloadRef")
    if reference is not None:
        for name, form in (("workloadName", names.dns_subdomain), ("templateName", names.dns_label)):
            yield from check_name(reference, name, form, (*at, "workloadRef", name))
    if old is not None:
        before = inner(old, "spec")
        yield from unchanged(spec, before, ("workloadRef", *KEPT), at)
        yield from same_policy(spec, before, at)


def check_policies(spec: Object, at: Path) -> Iterator[Problem]:
    """Yield the problems with the policy, the disruption mode and the priority of a group."""
    policy, mode = child(spec, "schedulingPolicy") or {}, child(spec, "disruptionMode")
    yield from check_union(policy, POLICIES, (*at, "schedulingPolicy"))
    if mode is not None:
        yield from check_union(mode, MODES, (*at, "disruptionMode"))
    gang = child(policy, "gang")
    least = number(gang, "minCount") if gang is not None else None
    where = (*at, "schedulingPolicy", "gang", "minCount")
    if gang is not None and not least:
        yield GROUP.required(where)
    elif least is not None and least < 1:
        yield GROUP.invalid(where, least, "must be greater than or equal to 1")
    priority = number(spec, "priority")
    if priority is not None and priority > HIGHEST:
        yield GROUP.invalid((*at, "priority"), priority, f"must be less than or equal to {HIGHEST}")
    if name := text(spec, "priorityClassName"):
        detail = names.dns_subdomain(name)
        if detail:
            yield GROUP.invalid((*at, "priorityClassName"), name, detail)


def check_union(value: Object, choices: Sequence[str], at: Path) -> Iterator[Problem]:
    """Yield the problem of a choice that is none, or several."""
    given = [choice for choice in choices if value.get(choice) is not None]
    if len(given) != 1:
        yield GROUP.invalid(at, given, f"must specify exactly one of {' and '.join(choices)}")


def check_name(value: Object, key: str, form: names.Format, at: Path) -> Iterator[Problem]:
    """Yield the problem of a name that is missing or malformed."""
    found = text(value, key)
    if not found:
        yield GROUP.required(at)
    elif detail := form(found):
        yield GROUP.invalid(at, found, detail)


def unchanged(spec: Object, before: Object, fields: Sequence[str], at: Path) -> Iterator[Problem]:
    """Yield fields that may not change and did; a priority that is left out follows from its class."""
    for field in fields:
        now, then = spec.get(field) or None, before.get(field) or None
        if now != then and not (field == "priority" and now is None):
            yield CHANGE.invalid((*at, field), now, "field is immutable")


def same_policy(spec: Object, before: Object, at: Path) -> Iterator[Problem]:
    """Yield a policy that becomes another one."""
    now, then = inner(spec, "schedulingPolicy"), inner(before, "schedulingPolicy")
    for name in POLICIES:
        if (now.get(name) is None) != (then.get(name) is None):
            yield CHANGE.invalid((*at, "schedulingPolicy", name), now.get(name), "the policy may not change")
