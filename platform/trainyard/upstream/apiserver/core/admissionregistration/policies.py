"""Admission policies and their bindings; whether the expressions compile is another layer's matter.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/admissionregistration/validation/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.upstream.apiserver.core.admissionregistration.matching import (
    FAILURE_POLICIES,
    SOURCE,
    check_choice,
    check_conditions,
    check_match,
    default_matching,
    is_blank,
)
from trainyard.upstream.apiserver.core.selectors import check_label_selector
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, fill_absent, inner, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

POLICY = Rule(
    "core/admission-policy",
    f"{SOURCE} validateValidatingAdmissionPolicySpec",
    title="An admission policy has valid expressions, variables, messages and a failurePolicy.",
    fix="add validations or auditAnnotations, and correct the field in the message",
)
PARAMETERS = Rule(
    "core/policy-parameters",
    f"{SOURCE} validateParamRef",
    title="A policy binding selects its parameters by name or by selector, but not both.",
    fix="set exactly one of paramRef.name and paramRef.selector, and parameterNotFoundAction",
)
BINDING = Rule(
    "core/policy-binding",
    f"{SOURCE} validateValidatingAdmissionPolicyBindingSpec",
    title="A policy binding names a policy and valid validation actions.",
    fix="set policyName, and validationActions from Deny, Warn and Audit",
)

ACTIONS = ("Audit", "Deny", "Warn")
REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
PATCHES = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
_MOST_ANNOTATIONS = 20
_LONGEST_ANNOTATION = 5 * 1024
_identifier = re.compile("[_a-zA-Z][_a-zA-Z0-9]*").fullmatch
_RESERVED = frozenset(
    {"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
     "let", "loop", "package", "namespace", "return", "var", "void", "while"}
)  # fmt: skip


def default_policy(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default an admission policy."""
    if (spec := child(value, "spec")) is not None:
        fill_absent(spec, "failurePolicy", "Fail")
        _match_resources(spec, "matchConstraints")


def default_binding(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default the binding of an admission policy."""
    if (spec := child(value, "spec")) is not None:
        _match_resources(spec, "matchResources")


def _match_resources(spec: Object, field: str) -> None:
    if (resources := child(spec, field)) is None:
        return
    default_matching(resources)
    for kind in ("resourceRules", "excludeResourceRules"):
        for _, rule in each(resources, kind):
            fill_absent(rule, "scope", "*")


def check_policy(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a ValidatingAdmissionPolicy."""
    spec = inner(value, "spec")
    yield from _check_common(spec, mutating=False)
    if not count(spec, "validations") and not count(spec, "auditAnnotations"):
        yield POLICY.required(("spec", "validations"), "validations or auditAnnotations must have an item")
    for index, validation in each(spec, "validations"):
        yield from _check_validation(validation, ("spec", "validations", index))
    yield from _check_annotations(spec, text(inner(value, "metadata"), "name"))


def check_mutating_policy(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a MutatingAdmissionPolicy."""
    spec = inner(value, "spec")
    yield from _check_common(spec, mutating=True)
    if not count(spec, "mutations"):
        yield POLICY.required(("spec", "mutations"), "must contain at least one item")
    for index, mutation in each(spec, "mutations"):
        yield from _check_mutation(mutation, ("spec", "mutations", index))
    policy = spec.get("reinvocationPolicy") or ""
    if policy not in ("IfNeeded", "Never"):
        yield POLICY.unsupported(("spec", "reinvocationPolicy"), policy, ("IfNeeded", "Never"))


def _check_common(spec: Object, *, mutating: bool) -> Iterator[Problem]:
    yield from check_choice(spec, "failurePolicy", FAILURE_POLICIES, ("spec",), POLICY)
    if (kind := child(spec, "paramKind")) is not None:
        yield from _check_param_kind(kind, ("spec", "paramKind"))
    if (match := child(spec, "matchConstraints")) is None:
        yield POLICY.required(("spec", "matchConstraints"))
    else:
        yield from check_match(match, ("spec", "matchConstraints"), mutating=mutating)
        if not count(match, "resourceRules"):
            yield POLICY.required(("spec", "matchConstraints", "resourceRules"))
    yield from check_conditions(spec, ("spec",))
    for index, variable in each(spec, "variables"):
        path = ("spec", "variables", index)
        name = variable.get("name")
        if is_blank(name):
            yield POLICY.required((*path, "name"))
        elif isinstance(name, str) and (not _identifier(name) or name in _RESERVED):
            yield POLICY.invalid((*path, "name"), name, "must be a valid CEL identifier")
        if is_blank(variable.get("expression")):
            yield POLICY.required((*path, "expression"))


def _check_param_kind(kind: Object, path: Path) -> Iterator[Problem]:
    api, name = text(kind, "apiVersion"), text(kind, "kind")
    group, _, version = api.rpartition("/")
    if not api or api == "/":
        yield POLICY.required((*path, "apiVersion"))
    elif api.count("/") > 1 or (group and names.dns_subdomain(group)) or names.dns_label_1035(version) or not version:
        yield POLICY.invalid((*path, "apiVersion"), api, "must be group/version")
    if not name:
        yield POLICY.required((*path, "kind"))
    elif names.dns_label_1035(name.lower()):
        yield POLICY.invalid((*path, "kind"), name, "must be a kind: letters, digits or '-'")


def _check_validation(validation: Object, path: Path) -> Iterator[Problem]:
    message, expression = text(validation, "message"), validation.get("messageExpression")
    if is_blank(validation.get("expression")):
        yield POLICY.required((*path, "expression"))
    if expression and is_blank(expression):
        yield POLICY.invalid((*path, "messageExpression"), expression, "must be non-empty if specified")
    if message and not message.strip():
        yield POLICY.invalid((*path, "message"), message, "must be non-empty if specified")
    elif "\n" in message.strip() or "\r" in message.strip():
        yield POLICY.invalid((*path, "message"), message, "must not contain line breaks")
    yield from check_choice(validation, "reason", REASONS, path, POLICY)


def _check_annotations(spec: Object, policy: str) -> Iterator[Problem]:
    if (total := count(spec, "auditAnnotations")) > _MOST_ANNOTATIONS:
        yield POLICY.too_many(("spec", "auditAnnotations"), total, _MOST_ANNOTATIONS)
    seen: set[str] = set()
    for index, annotation in each(spec, "auditAnnotations"):
        path = ("spec", "auditAnnotations", index)
        key, expression = text(annotation, "key"), annotation.get("valueExpression")
        if detail := names.label_key(f"{policy}/{key}"):
            yield POLICY.invalid((*path, "key"), key, f"after the policy's name and '/' it {detail}")
        if is_blank(expression):
            yield POLICY.required((*path, "valueExpression"))
        elif isinstance(expression, str) and names.size(expression.strip()) > _LONGEST_ANNOTATION:
            yield POLICY.too_long((*path, "valueExpression"), _LONGEST_ANNOTATION)
        if key in seen:
            yield POLICY.duplicate((*path, "key"), key)
        seen.add(key)


def _check_mutation(mutation: Object, path: Path) -> Iterator[Problem]:
    kind = mutation.get("patchType")
    if not kind:
        yield POLICY.required((*path, "patchType"))
        return
    if kind not in tuple(PATCHES):
        yield POLICY.unsupported((*path, "patchType"), kind, tuple(PATCHES))
        return
    for name, field in PATCHES.items():
        patch = child(mutation, field)
        if name != kind:
            if patch is not None:
                yield POLICY.invalid((*path, field), "", f"must not be specified when patchType is {kind}")
        elif patch is None:
            yield POLICY.required((*path, field), f"must be specified when patchType is {kind}")
        elif is_blank(patch.get("expression")):
            yield POLICY.required((*path, field, "expression"))


def check_binding(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with the binding of a validating or mutating policy."""
    spec = inner(value, "spec")
    mutating = value.get("kind") == "MutatingAdmissionPolicyBinding"
    policy = spec.get("policyName")
    if not policy:
        yield BINDING.required(("spec", "policyName"))
    elif detail := names.dns_subdomain(policy):
        yield BINDING.invalid(("spec", "policyName"), policy, detail)
    if (reference := child(spec, "paramRef")) is not None:
        yield from _check_param_ref(reference, ("spec", "paramRef"))
    if (match := child(spec, "matchResources")) is not None:
        yield from check_match(match, ("spec", "matchResources"), mutating=mutating)
    if not mutating:
        yield from _check_actions(spec)


def _check_param_ref(reference: Object, path: Path) -> Iterator[Problem]:
    name, selector = reference.get("name"), child(reference, "selector")
    if name and (detail := names.path_segment(name)):
        yield PARAMETERS.invalid((*path, "name"), name, detail)
    if bool(name) == (selector is not None):
        yield PARAMETERS.required(path, "exactly one of name and selector must be specified")
    yield from check_label_selector(selector, (*path, "selector"))
    action = reference.get("parameterNotFoundAction")
    if not action:
        yield PARAMETERS.required((*path, "parameterNotFoundAction"))
    elif action not in ("Allow", "Deny"):
        yield PARAMETERS.unsupported((*path, "parameterNotFoundAction"), action, ("Allow", "Deny"))


def _check_actions(spec: Object) -> Iterator[Problem]:
    actions = [action for _, action in texts(spec, "validationActions")]
    path = ("spec", "validationActions")
    if not actions and not spec.get("validationActions"):
        yield BINDING.required(path, "at least one validation action is required")
    for index, action in enumerate(actions):
        if action not in ACTIONS:
            yield BINDING.unsupported((*path, index), action, ACTIONS)
        if action in actions[:index]:
            yield BINDING.duplicate((*path, index), action)
    if {"Deny", "Warn"} <= set(actions):
        yield BINDING.invalid(path, actions, "must not contain both Deny and Warn")
