"""IngressClasses: a controller that stays, and its parameters.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/networking/validation/validation.go ValidateIngressClass and
pkg/apis/networking/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.ingress import check_reference
from trainyard.upstream.apiserver.core.networkpolicy import SOURCE
from trainyard.upstream.apiserver.core.shapes import Object, child, fill_absent, inner
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

CLASS = Rule(
    "core/ingress-class",
    f"{SOURCE} validateIngressClassSpec",
    title="An IngressClass has a controller and complete parameters.",
    fix="set controller to a domain and path, and correct the parameters",
)
IMMUTABLE = Rule(
    "update/ingress-class",
    f"{SOURCE} ValidateIngressClassUpdate",
    title="An update keeps the controller of an IngressClass.",
    fix="restore spec.controller, or create another IngressClass",
)

_LONGEST_CONTROLLER = 250


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default the scope of an IngressClass' parameters."""
    if (parameters := child(inner(value, "spec"), "parameters")) is not None:
        fill_absent(parameters, "scope", "Cluster")


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with an IngressClass, and a change of its controller."""
    spec = inner(value, "spec")
    controller = spec.get("controller") or ""
    if isinstance(controller, str) and names.size(controller) > _LONGEST_CONTROLLER:
        yield CLASS.too_long(("spec", "controller"), _LONGEST_CONTROLLER)
    if detail := names.domain_prefixed_path(controller):
        yield CLASS.invalid(("spec", "controller"), controller, detail)
    if (parameters := child(spec, "parameters")) is not None:
        yield from check_reference(parameters, ("spec", "parameters"), CLASS)
        yield from _check_scope(parameters, ("spec", "parameters"))
    if old is not None:
        before = inner(old, "spec").get("controller")
        yield from check_immutable(controller, before, ("spec", "controller"), IMMUTABLE)


def _check_scope(parameters: Object, path: Path) -> Iterator[Problem]:
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        scope = "Cluster"
    if scope not in ("Cluster", "Namespace"):
        yield CLASS.unsupported((*path, "scope"), scope, ("Cluster", "Namespace"))
    elif scope == "Cluster":
        if namespace is not None:
            yield CLASS.forbidden((*path, "namespace"), "may not be set with scope Cluster")
    elif namespace is None:
        yield CLASS.required((*path, "namespace"), "needed with scope Namespace")
    elif detail := names.dns_label(namespace):
        yield CLASS.invalid((*path, "namespace"), namespace, detail)
