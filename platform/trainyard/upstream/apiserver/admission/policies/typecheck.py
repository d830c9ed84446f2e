"""Checks the expressions of a policy against the schemas of the objects that it is for.

The server warns of these in the policy's status; here they are errors. A policy for several kinds may read fields that
only some of them have, so what counts is what no kind of them has.
Source: kubernetes/apiserver v0.35.4 pkg/admission/plugin/policy/validating/typechecking.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.limits import EXPRESSIONS
from trainyard.base.manifests import mapping
from trainyard.base.versions import minor as minor_of
from trainyard.upstream.apiserver.admission.policies.matching import list_names
from trainyard.upstream.apiserver.admission.policies.policy import Policy, expressions, load
from trainyard.upstream.apiserver.catalog.served import Kind
from trainyard.upstream.apiserver.cel import DYN, CompileError, Issue, Type
from trainyard.upstream.apiserver.cel.declare import Declarations
from trainyard.upstream.apiserver.problems import UNKNOWN, Problem, Rule


@dataclass(frozen=True, slots=True)
class TypeIssue:
    """What is wrong with one expression; `path` leads to it in the policy."""

    path: Path
    message: str


Places = dict[tuple[Path, int], Issue | None]
"""Issues by expression and offset; None where a field's operand has one, so that nothing can be said of the field."""


SOURCE = "kubernetes v0.35.4 pkg/apis/admissionregistration/validation/validation.go"
COMPILE = Rule(
    "cel/compile",
    SOURCE,
    title="The expressions of an admission policy compile.",
    fix="correct the expression; the message gives the compiler's error",
)


def compilation(value: Mapping[str, Any], *, kubernetes: str) -> Iterator[Problem]:
    """Yield the expressions of a policy that do not compile, for which a server refuses the policy.

    New expressions are compiled with the library of the release before, so that a rollback keeps them working.
    """
    if (count := expressions(value)) > EXPRESSIONS:
        message = f"the policy has {count:,} expressions, but Trainyard compiles at most {EXPRESSIONS:,}; split it"
        yield Problem(("spec",), UNKNOWN, message, SOURCE)
        return
    for (path, _), issue in issues_of(load(value, minor=minor_of(kubernetes) - 1)).items():
        if issue is not None:
            yield Problem(path, COMPILE.id, f"expression does not compile: {issue.message}", SOURCE)


def check(value: Mapping[str, Any], kinds: Iterable[Kind], *, minor: int) -> list[TypeIssue]:
    """Return the problems with a policy's expressions on a server that serves these kinds."""
    if expressions(value) > EXPRESSIONS:
        return []
    policy = load(value, minor=minor)
    found = issues_of(policy)
    if not found:
        served = list(kinds)
        params = params_type(policy, served)
        types = map(type_of, matched_kinds(policy, served))
        found = common(issues_of(load(value, minor=minor, object_type=type_, params_type=params)) for type_ in types)
    return [TypeIssue(path, issue.message) for (path, _), issue in found.items() if issue is not None]


def common(places: Iterable[Places]) -> Places:
    """Return the issues that all kinds share, in the words of a kind with a near miss; stop where none is left."""
    rest = iter(places)
    found = dict(next(rest, {}))
    while found and (answer := next(rest, None)) is not None:
        found = {key: nearer(issue, answer[key]) for key, issue in found.items() if key in answer}
    return found


def nearer(known: Issue | None, other: Issue | None) -> Issue | None:
    """Return the issue of two kinds that says more: one with a near miss, else the one that was known first."""
    if other is None or (known is not None and "did you mean" not in other.message):
        return known
    return other


def issues_of(policy: Policy) -> Places:
    """Return the issues of every expression, by where they are."""
    found: Places = {}
    for expression in policy.expressions():
        if isinstance(expression.compiled, CompileError):
            found |= {(expression.path, offset): None for offset in expression.compiled.masked}
            found |= {(expression.path, issue.offset): issue for issue in expression.compiled.issues}
    return found


@lru_cache(maxsize=512)
def type_of(kind: Kind | None) -> Type:
    """Return the type of a kind's objects with all of their metadata: one for each, so that programs are shared."""
    if kind is None:
        return DYN
    return Declarations(metadata=None, nullable_fields=False).type(kind.schema, root=True) or DYN


def matched_kinds(policy: Policy, kinds: Iterable[Kind]) -> Iterator[Kind]:
    """Yield the kinds that the policy's resource rules name; one that names everything names none."""
    rules = mapping(policy.spec.get("matchConstraints")).get("resourceRules") or ()
    for kind in kinds:
        if any(names_kind(mapping(rule), kind) for rule in rules):
            yield kind


def names_kind(rule: Mapping[str, Any], kind: Kind) -> bool:
    """Whether a resource rule names a kind by group and plural."""
    groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
    return kind.group in groups and kind.plural in resources and list_names(rule.get("apiVersions"), kind.version)


def params_type(policy: Policy, kinds: Iterable[Kind]) -> Type:
    """Return the type of the policy's parameters."""
    wanted = mapping(policy.spec.get("paramKind"))
    names = (wanted.get("apiVersion"), wanted.get("kind"))
    return type_of(next((kind for kind in kinds if (kind.api_version, kind.kind) == names), None))
