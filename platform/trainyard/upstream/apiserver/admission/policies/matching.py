"""Which requests a policy or a binding is for: three answers, for the labels of a namespace may not be known.

Source: kubernetes/apiserver v0.35.4 pkg/admission/plugin/policy/matching/matching.go, plugin/webhook/predicates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainyard.base.labels import NAMESPACE
from trainyard.upstream.apiserver.admission.policies.request import Object, Request, Resource, Surroundings
from trainyard.upstream.apiserver.core import selectors

EXEMPT = frozenset(
    {
        "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
    }
)  # fmt: skip
"""Kinds of admissionregistration.k8s.io that no policy is asked about, so that a bad one can be mended."""


@dataclass(frozen=True, slots=True)
class Match:
    """A request is matched, as this resource; `doubt` says on what that depends where it is not certain."""

    resource: Resource
    doubt: str | None = None


def is_exempt(resource: Resource) -> bool:
    """Whether no policy is asked about objects of this kind."""
    return resource.group == "admissionregistration.k8s.io" and resource.kind in EXEMPT


def match(constraints: Mapping[str, Any], request: Request, surroundings: Surroundings) -> Match | None:
    """Return how `matchConstraints` or `matchResources` match a request, None where they do not."""
    doubt = None
    selected = select_namespace(constraints.get("namespaceSelector") or {}, request, surroundings)
    if selected is False:
        return None
    if selected is None:
        doubt = f"the labels of namespace {request.namespace!r}"
    if not select_object(constraints.get("objectSelector") or {}, request):
        return None
    exact = constraints.get("matchPolicy") == "Exact"
    if match_rules(constraints.get("excludeResourceRules") or (), request, exact=exact) is not None:
        return None
    rules = constraints.get("resourceRules")
    found = match_rules(rules, request, exact=exact) if rules else request.resource
    return None if found is None else Match(found, doubt)


def select_namespace(selector: Mapping[str, Any], request: Request, surroundings: Surroundings) -> bool | None:
    """Whether the selector takes the request's namespace; None where its labels are not known."""
    name = request.namespace
    if not name or selectors.is_empty(dict(selector)):
        return True
    if request.resource.is_namespaces and request.operation in {"CREATE", "UPDATE"}:
        return selectors.matches(dict(selector), labels_of(request.object)) is True
    known = surroundings.namespace(name)
    if known is not None:
        return selectors.matches(dict(selector), labels_of(known)) is True
    return select_by_name(selector, name)


def select_by_name(selector: Mapping[str, Any], name: str) -> bool | None:
    """Judge a selector by the one label that every namespace has; None where it asks for others as well."""
    certain = True
    for key, value in (selector.get("matchLabels") or {}).items():
        if key != NAMESPACE:
            certain = False
        elif value != name:
            return False
    for expression in selector.get("matchExpressions") or ():
        if expression.get("key") != NAMESPACE:
            certain = False
        elif selectors.matches({"matchExpressions": [expression]}, {NAMESPACE: name}) is False:
            return False
    return True if certain else None


def select_object(selector: Mapping[str, Any], request: Request) -> bool:
    """Whether the selector takes the object, or the one before."""
    if selectors.is_empty(dict(selector)):
        return True
    both = (document for document in (request.object, request.old) if document is not None)
    return any(selectors.matches(dict(selector), labels_of(document)) is True for document in both)


def labels_of(value: Object | None) -> dict[str, Any]:
    """Return an object's labels."""
    metadata = (value or {}).get("metadata")
    found = metadata.get("labels") if isinstance(metadata, Mapping) else None
    return dict(found) if isinstance(found, Mapping) else {}


def match_rules(rules: Iterable[Mapping[str, Any]], request: Request, *, exact: bool) -> Resource | None:
    """Return the resource as which a rule matches: another version of it where the rules allow equivalents."""
    listed = list(rules)
    for rule in listed:
        if matches_rule(rule, request, request.resource):
            return request.resource
    if exact:
        return None
    for rule in listed:
        for equivalent in request.resource.equivalents:
            if matches_rule(rule, request, equivalent):
                return equivalent
    return None


def matches_rule(rule: Mapping[str, Any], request: Request, resource: Resource) -> bool:
    """Whether one resource rule matches a request taken as one for `resource`."""
    names = rule.get("resourceNames") or ()
    return (
        in_scope(rule.get("scope") or "*", request)
        and list_names(rule.get("operations"), request.operation)
        and list_names(rule.get("apiGroups"), resource.group)
        and list_names(rule.get("apiVersions"), resource.version)
        and any(
            names_resource(one_resource, resource.plural, request.subresource)
            for one_resource in rule.get("resources") or ()
        )
        and (not names or request.name in names)
    )


def in_scope(scope: str, request: Request) -> bool:
    """Whether a rule's scope has the request; Namespaces are cluster-scoped."""
    clusterwide = request.resource.is_namespaces or not request.namespace
    return scope == "*" or (scope == "Cluster" if clusterwide else scope == "Namespaced")


def list_names(items: Any, wanted: str) -> bool:
    """Whether a list names a value or everything."""
    return any(item in {"*", wanted} for item in items or ())


def names_resource(item: str, plural: str, subresource: str) -> bool:
    """Whether `pods`, `pods/status`, `pods/*`, `*` or `*/*` names a resource."""
    resource, _, sub = item.partition("/")
    return resource in {"*", plural} and sub in {"*", subresource}


def convert_request(request: Request, resource: Resource) -> Request | None:
    """Return a request with its objects as those of another version, None where only the server can convert."""
    if resource.version == request.resource.version and resource.group == request.resource.group:
        return request
    if not resource.convertible:
        return None
    both = [
        None if document is None else {**document, "apiVersion": resource.api_version}
        for document in (request.object, request.old)
    ]
    return replace(request, object=both[0], old=both[1])
