"""Label selectors and node selectors, wherever they are embedded, and whether a label selector matches.

Source: k8s.io/apimachinery v0.35.4 pkg/apis/meta/v1/validation/validation.go and
k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.shapes import Object, count, each, inner, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.meta.metadata import check_labels
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SELECTOR = Rule(
    "core/label-selector",
    "k8s.io/apimachinery v0.35.4 pkg/apis/meta/v1/validation/validation.go ValidateLabelSelector",
    title="Label selectors have valid keys, operators and values.",
    fix="give In and NotIn values, and Exists and DoesNotExist none",
)
NODE = Rule(
    "core/node-selector",
    "k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateNodeSelector",
    title="Node selectors have valid keys, operators and values.",
    fix="give In and NotIn values, Gt and Lt one integer, and Exists and DoesNotExist none",
)

_WITH_VALUES = ("In", "NotIn")
_WITHOUT_VALUES = ("Exists", "DoesNotExist")
OPERATORS = "In, NotIn, Exists or DoesNotExist"
NEEDS_VALUES = "must be specified when operator is In or NotIn"
TAKES_NO_VALUES = "may not be specified when operator is Exists or DoesNotExist"


def check_label_selector(selector: Any, path: Path, *, any_value: bool = False) -> Iterator[Problem]:
    """Yield the problems with a label selector; `any_value` where an older object may keep odd values."""
    if type(selector) is not dict:
        return
    yield from check_labels(selector.get("matchLabels"), (*path, "matchLabels"), SELECTOR)
    for index, expression in each(selector, "matchExpressions"):
        at = (*path, "matchExpressions", index)
        yield from _check_requirement(expression, at, SELECTOR, _WITHOUT_VALUES)
        if not any_value:
            yield from _check_values(expression, at, SELECTOR)


def _check_requirement(
    expression: Object, path: Path, rule: Rule, without: tuple[str, ...], *, comparing: bool = False
) -> Iterator[Problem]:
    operator, values = expression.get("operator"), count(expression, "values")
    if operator in _WITH_VALUES:
        if not values:
            yield rule.required((*path, "values"), NEEDS_VALUES)
    elif operator in without:
        if values:
            yield rule.forbidden((*path, "values"), TAKES_NO_VALUES)
    elif comparing and operator in ("Gt", "Lt"):
        if values != 1:
            yield rule.required((*path, "values"), "must be a single value when operator is Lt or Gt")
    elif operator is None or isinstance(operator, str):
        yield rule.invalid((*path, "operator"), operator or "", f"must be {'Gt, Lt, ' if comparing else ''}{OPERATORS}")
    key = expression.get("key") or ""
    if detail := names.label_key(key):
        yield rule.invalid((*path, "key"), key, detail)


def _check_values(expression: Object, path: Path, rule: Rule) -> Iterator[Problem]:
    for index, value in texts(expression, "values"):
        if detail := names.label_value(value):
            yield rule.invalid((*path, "values", index), value, detail)


def check_node_selector(selector: Object, path: Path, *, any_value: bool = False) -> Iterator[Problem]:
    """Yield the problems with a required node selector: node affinity, volumes, device slices."""
    if not count(selector, "nodeSelectorTerms"):
        yield NODE.required((*path, "nodeSelectorTerms"), "must have at least one node selector term")
    for index, term in each(selector, "nodeSelectorTerms"):
        yield from check_node_term(term, (*path, "nodeSelectorTerms", index), any_value=any_value)


def check_node_term(term: Object, path: Path, *, any_value: bool) -> Iterator[Problem]:
    """Yield the problems with one term; values of preferred terms need not be label values."""
    for index, expression in each(term, "matchExpressions"):
        at = (*path, "matchExpressions", index)
        yield from _check_requirement(expression, at, NODE, _WITHOUT_VALUES, comparing=True)
        if not any_value:
            yield from _check_values(expression, at, NODE)
    for index, field in each(term, "matchFields"):
        yield from _check_node_field(field, (*path, "matchFields", index))


def _check_node_field(field: Object, path: Path) -> Iterator[Problem]:
    if field.get("operator") not in _WITH_VALUES:
        yield NODE.invalid((*path, "operator"), text(field, "operator"), "must be In or NotIn")
    elif count(field, "values") != 1:
        yield NODE.required((*path, "values"), "must be one value when operator is In or NotIn")
    if field.get("key") != "metadata.name":
        yield NODE.invalid((*path, "key"), text(field, "key"), "must be metadata.name")
        return
    for index, value in texts(field, "values"):
        if detail := names.dns_subdomain(value):
            yield NODE.invalid((*path, "values", index), value, detail)


def is_empty(selector: Object) -> bool:
    """Whether a label selector has no requirement, and so matches everything."""
    return not count(selector, "matchLabels") and not count(selector, "matchExpressions")


def matches(selector: Object, labels: Object) -> bool | None:
    """Whether a label selector selects these labels; None where it cannot be turned into one."""
    for key, value in inner(selector, "matchLabels").items():
        if names.label_key(key) or names.label_value(value):
            return None
        if labels.get(key) != value:
            return False
    verdict = True
    for _, expression in each(selector, "matchExpressions"):
        if (meets := _meets(expression, labels)) is None:
            return None
        verdict = verdict and meets
    return verdict


def _meets(expression: Object, labels: Object) -> bool | None:
    key, operator = text(expression, "key"), expression.get("operator")
    values = [value for _, value in texts(expression, "values")]
    if names.label_key(key) or any(names.label_value(value) for value in values):
        return None
    if operator in _WITH_VALUES and values:
        holds: bool = key in labels and labels[key] in values
        return holds if operator == "In" else not holds
    if operator in _WITHOUT_VALUES and not values:
        present: bool = key in labels
        return present if operator == "Exists" else not present
    return None
