"""Which nodes a pod may run on: node selector, node affinity and label selectors, as Kubernetes reads them.

Source: k8s.io/component-helpers v0.35 scheduling/corev1/nodeaffinity/nodeaffinity.go, k8s.io/apimachinery v0.35
pkg/labels/selector.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)


def has_labels(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether labels are as a selector wants them."""
    return all(labels.get(name) == value for name, value in selector.items())


def affinity_of(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the node affinity of a pod, an empty map where it has none."""
    found: Mapping[str, Any] = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return found


def required_of(spec: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the node affinity that a pod insists on, None where it does not."""
    return affinity_of(spec).get("requiredDuringSchedulingIgnoredDuringExecution")


def meets(required: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> bool:
    """Whether a node meets one of the terms of a required affinity; without terms none does."""
    return any(meets_term(term, name, labels) for term in required.get("nodeSelectorTerms") or ())


def meets_term(term: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> bool:
    """Whether a node meets a term; an empty one is met by none."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    own = {"metadata.name": name}
    return bool(expressions or fields) and all(
        meets_expression(expression, values)
        for part, values in ((expressions, labels), (fields, own))
        for expression in part
    )


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether a LabelSelector matches; a missing one matches nothing, an empty one everything."""
    if selector is None:
        return False
    expressions = selector.get("matchExpressions") or ()
    return has_labels(selector.get("matchLabels") or {}, labels) and all(
        meets_expression(expression, labels) for expression in expressions
    )


def meets_expression(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether labels are as one expression of a selector or of an affinity wants them."""
    value: str | None = labels.get(expression.get("key", ""))
    wanted: Sequence[str] = expression.get("values") or ()
    operator = expression.get("operator")
    if operator in ("In", "NotIn"):
        return bool((value in wanted) == (operator == "In"))
    if operator in ("Exists", "DoesNotExist"):
        return bool((value is not None) == (operator == "Exists"))
    if value is None or not all(map(INTEGER.fullmatch, (value, *wanted))):
        return False
    number, bound = int(value), int(next(iter(wanted), "0"))
    return (number > bound and operator == "Gt") or (number < bound and operator == "Lt")
