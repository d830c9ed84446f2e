"""Roles and their bindings: what a rule must hold, whom a binding may name, and that its role stays.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/rbac/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.equality import differs
from trainyard.upstream.apiserver.core.selectors import check_label_selector
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, fill, inner
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/rbac/validation/validation.go"
RULE = Rule(
    "core/rbac-rule",
    f"{SOURCE} ValidatePolicyRule",
    title="An RBAC rule has verbs, and either resources of API groups or URLs.",
    fix="set verbs, and either apiGroups with resources or nonResourceURLs in a ClusterRole",
)
AGGREGATION = Rule(
    "core/rbac-aggregation",
    f"{SOURCE} ValidateClusterRole",
    title="An aggregated ClusterRole has valid label selectors.",
    fix="add a selector to clusterRoleSelectors, or remove aggregationRule",
)
REFERENCE = Rule(
    "core/rbac-role-ref",
    f"{SOURCE} ValidateRoleBinding",
    title="The roleRef of a binding names a role of an allowed kind.",
    fix="set roleRef to apiGroup rbac.authorization.k8s.io, kind Role or ClusterRole, and a name",
)
SUBJECT = Rule(
    "core/rbac-subject",
    f"{SOURCE} ValidateRoleBindingSubject",
    title="Subjects of a binding have a name and the fields that their kind needs.",
    fix="set the namespace for a ServiceAccount, and apiGroup rbac.authorization.k8s.io for a User or Group",
)
IMMUTABLE = Rule(
    "update/rbac-role-ref",
    f"{SOURCE} ValidateRoleBindingUpdate",
    title="An update keeps the roleRef of a binding.",
    fix="delete the binding and create it again, or use another name",
)

GROUP = "rbac.authorization.k8s.io"
SUBJECTS = ("ServiceAccount", "User", "Group")


def default_binding(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default the API groups of a RoleBinding or ClusterRoleBinding."""
    if (role := child(value, "roleRef")) is not None:
        fill(role, "apiGroup", "rbac.authorization.k8s.io")
    for _, subject in each(value, "subjects"):
        if subject.get("kind") in ("User", "Group"):
            fill(subject, "apiGroup", "rbac.authorization.k8s.io")


def check_role(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a Role or ClusterRole."""
    namespaced = value.get("kind") == "Role"
    for index, rule in each(value, "rules"):
        yield from check_rule(rule, ("rules", index), namespaced=namespaced)
    if namespaced or (aggregation := child(value, "aggregationRule")) is None:
        return
    path = ("aggregationRule", "clusterRoleSelectors")
    if not count(aggregation, "clusterRoleSelectors"):
        yield AGGREGATION.required(path, "at least one selector is required")
    for index, selector in each(aggregation, "clusterRoleSelectors"):
        yield from check_label_selector(selector, (*path, index))


def check_rule(rule: Object, path: Path, *, namespaced: bool) -> Iterator[Problem]:
    """Yield the problems with one rule: verbs, and either resources or URLs."""
    if not count(rule, "verbs"):
        yield RULE.required((*path, "verbs"), "must contain at least one value")
    if count(rule, "nonResourceURLs"):
        at = (*path, "nonResourceURLs")
        if namespaced:
            yield RULE.invalid(at, rule["nonResourceURLs"], "namespaced rules cannot apply to non-resource URLs")
        if any(count(rule, field) for field in ("apiGroups", "resources", "resourceNames")):
            yield RULE.invalid(at, rule["nonResourceURLs"], "cannot apply to both resources and URLs")
        return
    for field in ("apiGroups", "resources"):
        if not count(rule, field):
            yield RULE.required((*path, field), "resource rules must supply at least one")


def check_binding(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a RoleBinding or ClusterRoleBinding, and a change of its role."""
    namespaced = value.get("kind") == "RoleBinding"
    reference = inner(value, "roleRef")
    group, kind, name = reference.get("apiGroup") or GROUP, reference.get("kind"), reference.get("name")
    if group != GROUP:
        yield REFERENCE.unsupported(("roleRef", "apiGroup"), group, (GROUP,))
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    if kind not in kinds:
        yield REFERENCE.unsupported(("roleRef", "kind"), kind or "", kinds)
    if not name:
        yield REFERENCE.required(("roleRef", "name"))
    elif detail := names.path_segment(name):
        yield REFERENCE.invalid(("roleRef", "name"), name, detail)
    for index, subject in each(value, "subjects"):
        yield from _check_subject(subject, ("subjects", index), namespaced=namespaced)
    if old is not None and differs(reference, inner(old, "roleRef")):
        yield IMMUTABLE.invalid(("roleRef",), name, "cannot be changed; delete the binding and create another")


def _check_subject(subject: Object, path: Path, *, namespaced: bool) -> Iterator[Problem]:
    name, kind, group = subject.get("name"), subject.get("kind"), subject.get("apiGroup") or ""
    if not name:
        yield SUBJECT.required((*path, "name"))
    if kind == "ServiceAccount":
        if name and (detail := names.dns_subdomain(name)):
            yield SUBJECT.invalid((*path, "name"), name, detail)
        if group:
            yield SUBJECT.unsupported((*path, "apiGroup"), group, ("",))
        if not namespaced and not subject.get("namespace"):
            yield SUBJECT.required((*path, "namespace"), "for a ServiceAccount")
    elif kind in SUBJECTS:
        if group not in ("", GROUP):
            yield SUBJECT.unsupported((*path, "apiGroup"), group, (GROUP,))
    else:
        yield SUBJECT.unsupported((*path, "kind"), kind or "", SUBJECTS)
