"""Runs the policies written in CEL: our own on every object, and those among the inputs with their bindings."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.base.findings import Finding, Location, Severity
from trainyard.base.limits import EXPRESSIONS
from trainyard.base.manifests import Manifest
from trainyard.base.rules import Rule
from trainyard.base.versions import minor
from trainyard.judge.checks.result import Outcome
from trainyard.upstream.apiserver import Catalog, Judgement, neighbours
from trainyard.upstream.apiserver.admission import policies as engine
from trainyard.upstream.apiserver.admission.policies import (
    Binding,
    Decision,
    Request,
    Resource,
    Surroundings,
    typecheck,
)
from trainyard.upstream.apiserver.catalog import load as load_catalog
from trainyard.upstream.apiserver.neighbours import BINDING, POLICY

if TYPE_CHECKING:
    from trainyard.judge.policies.policy import Policy


THEIRS = Rule(
    id="policy/admission",
    title="Admission policies among the objects admit every other object.",
    why="a cluster with this policy refuses the object",
    fix="",
    source="the policy",
    layer="policy",
    may_warn=True,
)
"""What is said of somebody's own policy; its findings carry the policy's name."""

TYPE = Rule(
    id="cel/type",
    title="Expressions of an admission policy use only fields that its kinds have.",
    why="the server accepts the policy with a warning in its status, and the expression fails on every object",
    fix="use a field in the schema of the kind",
    source=typecheck.SOURCE,
    layer="cel",
)


@dataclass(frozen=True, slots=True)
class Bound:
    """A policy with what puts it into effect, and what a finding of it says beside its message."""

    policy: engine.Policy
    bindings: tuple[Binding, ...]
    rule: Rule | None = None
    """What ours says of itself."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An object with what is needed to put it before a policy."""

    manifest: Manifest
    value: dict[str, Any]
    resource: Resource
    old: dict[str, Any] | None = None
    spec: Location | None = None
    valid: bool = True


def check_judged(
    judgements: Sequence[Judgement],
    catalog: Catalog,
    policies: Sequence[Policy],
    *,
    complete: bool,
    covered: Callable[[Finding], bool] = lambda _: False,
    held: Collection[str] = (),
) -> Outcome:
    """Run our policies, and the policies among the objects with their bindings, over judged objects.

    Objects whose structure is broken are passed over: a server would not come so far. `complete` says that the
    objects are all that the cluster has, `covered` that somebody accepts a finding; policies of the names in `held` are
    not asked, since the same is held otherwise.
    """
    sound = [judgement for judgement in judgements if judgement.value is not None and not is_malformed(judgement)]
    subjects = list(admitted_subjects(sound, catalog))
    several = neighbours.unclear(subject.value for subject in subjects)
    shaping = [subject for subject in subjects if neighbours.identity(subject.value) not in several]
    objects = tuple(subject.value for subject in shaping)
    namespaces = {
        subject.manifest.name: subject.value for subject in shaping if subject.manifest.gvk == ("", "v1", "Namespace")
    }
    around = Surroundings(namespaces, objects, complete=complete)
    known = {*held, *(policy.id for policy in policies)}
    bound = [*ours(policies, catalog.kubernetes), *theirs(shaping, catalog.kubernetes, known)]
    compiled = [subject for subject in subjects if subject.manifest.kind == POLICY and subject.valid]
    outcome = Outcome(list(types(compiled, catalog)))
    for subject, decision, found in run(subjects, bound, around):
        if covered(found):
            continue
        outcome.findings.append(found)
        key = id(subject.manifest)
        if decision.action == "Deny":
            outcome.verdicts[key] = "invalid"
        elif decision.action == "Unknown":
            outcome.verdicts.setdefault(key, "unknown")
    return outcome


def types(subjects: Iterable[Subject], catalog: Catalog) -> Iterator[Finding]:
    """Yield expressions that name what no kind of theirs has; the server only warns of them in the policy's status.

    Kinds count whether their operator is installed or not: a policy may be written for all clusters.
    """
    for subject in subjects:
        if subject.manifest.kind == POLICY:
            text = json.dumps(subject.value.get("spec"), sort_keys=True)
            for issue in type_issues(text, catalog.shelf.folder, catalog.kubernetes):
                found = subject.manifest.finding(TYPE, issue.path, issue.message, fix=TYPE.fix)
                yield replace(found, spec=subject.spec)


@lru_cache(maxsize=256)
def type_issues(spec: str, schemas: Path, kubernetes: str) -> tuple[typecheck.TypeIssue, ...]:
    """Check the types of a policy's spec, given as JSON, against all kinds that we know."""
    known, _ = load_catalog(schemas, kubernetes=kubernetes)
    return tuple(typecheck.check({"spec": json.loads(spec)}, known.served(), minor=minor(kubernetes)))


def admitted_subjects(judgements: Iterable[Judgement], catalog: Catalog) -> Iterator[Subject]:
    """Yield objects as policies see them: with defaults, and with the versions in which their kind is served."""
    for judgement in judgements:
        if judgement.value is not None and judgement.kind is not None:
            versions = catalog.kinds.get((judgement.kind.group, judgement.kind.kind), {}).values()
            resource = engine.served_resource(judgement.kind, versions)
            yield Subject(
                judgement.manifest,
                judgement.value,
                resource,
                judgement.old,
                judgement.spec,
                judgement.verdict == "valid",
            )


def is_malformed(judgement: Judgement) -> bool:
    """Say whether the object did not pass the schema."""
    return any(finding.is_error and finding.layer == "schema" for finding in judgement.findings)


def ours(policies: Iterable[Policy], kubernetes: str) -> list[Bound]:
    """Return our own policies, bound to everything."""
    loaded = (
        (policy.rule, engine.load(policy.document, minor=minor(kubernetes))) for policy in policies if not policy.check
    )
    return [Bound(policy, (engine.bound_everywhere(policy),), rule) for rule, policy in loaded]


def theirs(subjects: Sequence[Subject], kubernetes: str, known: set[str]) -> list[Bound]:
    """Return the policies among the objects with their bindings; those that are copies of ours run as ours."""
    bindings = [engine.load_binding(subject.value) for subject in subjects if subject.manifest.kind == BINDING]
    found: list[Bound] = []
    for subject in subjects:
        mine = subject.manifest.kind == POLICY and subject.manifest.name not in known
        if mine and engine.expressions(subject.value) <= EXPRESSIONS:  # of one with more is said that it is not judged
            policy = engine.load(subject.value, minor=minor(kubernetes))
            found.append(Bound(policy, tuple(binding for binding in bindings if binding.policy == policy.name)))
    return found


def run(
    subjects: Iterable[Subject], bound: Sequence[Bound], around: Surroundings
) -> Iterator[tuple[Subject, Decision, Finding]]:
    """Put every object before every policy, and yield what they decide."""
    by_name = {one_bound.policy.name: one_bound for one_bound in bound}
    pairs = [(one_bound.policy, one_bound.bindings) for one_bound in bound]
    for subject in subjects:
        request = Request(subject.resource, subject.value, subject.old, "CREATE" if subject.old is None else "UPDATE")
        for decision in engine.judge(pairs, request, around):
            if decision.action != "Audit":
                yield subject, decision, finding(subject, decision, by_name[decision.policy.name])


def finding(subject: Subject, decision: Decision, bound: Bound) -> Finding:
    """Turn a decision into a finding at the part of the object that breaks the rule."""
    message, rule = decision.message, bound.rule or THEIRS
    if decision.action == "Unknown":
        message = f"policy {bound.policy.name!r} cannot be decided here: {message}"
    severity = Severity.WARNING if decision.action == "Warn" else None
    found = subject.manifest.finding(rule, decision.path, message, severity=severity, fix=rule.fix or None)
    return replace(found, rule=bound.policy.name, spec=subject.spec)
