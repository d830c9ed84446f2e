"""Runs the policies written in CEL: our own on every object, and those among the inputs with their bindings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.apiserver import Catalog, Judgement, neighbours
from trainyard.apiserver.admission import policies as engine
from trainyard.apiserver.admission.policies import Binding, Decision, Request, Resource, Surroundings, typecheck
from trainyard.apiserver.catalog import load as load_catalog
from trainyard.apiserver.neighbours import BINDING, POLICY
from trainyard.checks.policies import RUN_LABEL, Waivers
from trainyard.checks.result import Outcome
from trainyard.documents import format_path
from trainyard.findings import Finding, Location, Severity
from trainyard.manifests import Manifest
from trainyard.versions import minor

if TYPE_CHECKING:
    from trainyard.checks.policy import Policy


@dataclass(frozen=True, slots=True)
class Bound:
    """A policy with what puts it into effect, and what a finding of it says beside its message."""

    policy: engine.Policy
    bindings: tuple[Binding, ...]
    severity: Severity = Severity.ERROR
    fix: str | None = None
    source: str | None = None


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
    judgements: Sequence[Judgement], catalog: Catalog, rules: Sequence[Policy], waivers: Waivers, *, complete: bool
) -> Outcome:
    """Run our policies, and the policies among the objects with their bindings, over judged objects.

    Objects whose structure is broken are passed over: a server would not come so far. `complete` says that the
    objects are all that the cluster has.
    """
    sound = [each for each in judgements if each.value is not None and not malformed(each)]
    subjects = list(admitted(sound, catalog))
    several = neighbours.unclear(each.value for each in subjects)
    shaping = [each for each in subjects if neighbours.identity(each.value) not in several]
    objects = tuple(each.value for each in shaping)
    namespaces = {each.manifest.name: each.value for each in shaping if each.manifest.gvk == ("", "v1", "Namespace")}
    around = Surroundings(namespaces, objects, complete=complete)
    known = {rule.id for rule in rules}
    bound = [*ours(rules, catalog.kubernetes), *theirs(shaping, catalog.kubernetes, known)]
    compiled = [each for each in subjects if each.manifest.kind == POLICY and each.valid]
    outcome = Outcome(list(types(compiled, catalog)))
    for subject, decision, found in run(subjects, bound, around, waivers):
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
                yield Finding(
                    rule="cel/type",
                    layer="cel",
                    message=issue.message,
                    location=subject.manifest.location(issue.path),
                    object=subject.manifest.ref,
                    path=format_path(issue.path),
                    spec=subject.spec,
                    fix="name a field that the schema of the kind has",
                    source=typecheck.SOURCE,
                )


@lru_cache(maxsize=256)
def type_issues(spec: str, schemas: Path, kubernetes: str) -> tuple[typecheck.TypeIssue, ...]:
    """Check the types of a policy's spec, given as JSON, against all kinds that we know."""
    known, _ = load_catalog(schemas, kubernetes=kubernetes)
    return tuple(typecheck.check({"spec": json.loads(spec)}, known.served(), minor=minor(kubernetes)))


def admitted(judgements: Iterable[Judgement], catalog: Catalog) -> Iterator[Subject]:
    """Yield objects as policies see them: with defaults, and with the versions in which their kind is served."""
    for each in judgements:
        if each.value is not None and each.kind is not None:
            versions = catalog.kinds.get((each.kind.group, each.kind.kind), {}).values()
            resource = engine.served(each.kind, versions)
            yield Subject(each.manifest, each.value, resource, each.old, each.spec, each.verdict == "valid")


def malformed(judgement: Judgement) -> bool:
    """Say whether the object did not pass the schema."""
    return any(finding.is_error and finding.layer == "schema" for finding in judgement.findings)


def ours(rules: Iterable[Policy], kubernetes: str) -> list[Bound]:
    """Return our own policies, bound to everything."""
    loaded = ((rule, engine.load(rule.document, minor=minor(kubernetes))) for rule in rules if rule.check is None)
    return [
        Bound(policy, (engine.bound_everywhere(policy),), rule.severity, rule.fix, rule.source)
        for rule, policy in loaded
    ]


def theirs(subjects: Sequence[Subject], kubernetes: str, known: set[str]) -> list[Bound]:
    """Return the policies among the objects with their bindings; those that are copies of ours run as ours."""
    bindings = [engine.load_binding(each.value) for each in subjects if each.manifest.kind == BINDING]
    found: list[Bound] = []
    for each in subjects:
        if each.manifest.kind == POLICY and each.manifest.name not in known:
            policy = engine.load(each.value, minor=minor(kubernetes))
            found.append(Bound(policy, tuple(binding for binding in bindings if binding.policy == policy.name)))
    return found


def run(
    subjects: Iterable[Subject], bound: Sequence[Bound], around: Surroundings, waivers: Waivers
) -> Iterator[tuple[Subject, Decision, Finding]]:
    """Put every object before every policy, and yield what they decide that is not waived."""
    by_name = {each.policy.name: each for each in bound}
    pairs = [(each.policy, each.bindings) for each in bound]
    for subject in subjects:
        request = Request(subject.resource, subject.value, subject.old, "CREATE" if subject.old is None else "UPDATE")
        manifest = subject.manifest
        for decision in engine.judge(pairs, request, around):
            name, run_name = decision.policy.name, manifest.labels.get(RUN_LABEL)
            if decision.action != "Audit" and not waivers.cover(name, manifest.namespace, run_name):
                yield subject, decision, finding(subject, decision, by_name[name])


def finding(subject: Subject, decision: Decision, bound: Bound) -> Finding:
    """Turn a decision into a finding at the part of the object that breaks the rule."""
    message = decision.message
    if decision.action == "Unknown":
        message = f"policy {bound.policy.name!r} cannot be decided here: {message}"
    return Finding(
        rule=bound.policy.name,
        layer="policy",
        message=message,
        location=subject.manifest.location(decision.path),
        severity=Severity.WARNING if decision.action == "Warn" else bound.severity,
        object=subject.manifest.ref,
        path=format_path(decision.path) or None,
        spec=subject.spec,
        fix=bound.fix,
        source=bound.source,
    )
