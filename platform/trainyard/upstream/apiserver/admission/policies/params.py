"""The objects that a binding gives a policy as parameters.

Source: kubernetes/apiserver v0.35.4 pkg/admission/plugin/policy/generic/policy_dispatcher.go CollectParams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.upstream.apiserver.admission.policies.matching import labels_of
from trainyard.upstream.apiserver.admission.policies.request import Object, Request, Surroundings
from trainyard.upstream.apiserver.cel import CelError, Unknown
from trainyard.upstream.apiserver.core import selectors

Params = list[Object | Unknown | None]
"""One evaluation for each; None where the policy runs without parameters."""


def collect(
    kind: Mapping[str, Any] | None, ref: Mapping[str, Any] | None, request: Request, around: Surroundings
) -> Params:
    """Return the parameter objects of a binding; raises CelError where the binding is misconfigured."""
    if not kind or not ref:
        return [None]
    api_version, name = str(kind.get("apiVersion") or ""), str(kind.get("kind") or "")
    namespace = namespace_of(ref, request, namespaced=around.namespaced(api_version, name))
    wanted = f"{name} {namespace}/{ref.get('name')}" if namespace else f"{name} {ref.get('name')}"
    candidates = [candidate for candidate in around.of_kind(api_version, name) if in_namespace(candidate, namespace)]
    if ref.get("name"):
        found: Params = [
            candidate for candidate in candidates if (candidate.get("metadata") or {}).get("name") == ref["name"]
        ]
        if not found and not around.complete:
            return [Unknown(f"the parameters {wanted}")]
    else:
        selector = dict(ref.get("selector") or {})
        found = [candidate for candidate in candidates if selectors.matches(selector, labels_of(candidate)) is True]
        if not around.complete:
            found.append(Unknown(f"all parameters of kind {name}"))
    if not found and ref.get("parameterNotFoundAction") == "Deny":
        raise CelError("no params found for policy binding with `Deny` parameterNotFoundAction")
    return found


def namespace_of(ref: Mapping[str, Any], request: Request, *, namespaced: bool) -> str:
    """Return the namespace of the parameters, empty where their kind has none."""
    given = str(ref.get("namespace") or "")
    if not namespaced:
        if given:
            raise CelError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        return ""
    found = given or request.namespace
    if not found:
        raise CelError("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
    return found


def in_namespace(value: Object, namespace: str) -> bool:
    """Whether an object is in a namespace; of a kind that may have none, where none is written."""
    given = (value.get("metadata") or {}).get("namespace")
    return not namespace or (given or "default") == namespace
