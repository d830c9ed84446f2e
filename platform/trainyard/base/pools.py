"""Pools that a pod names, by the label that all nodes of a pool have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.base.labels import POOL

REQUIRED = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")


def selected_pools(spec: Any) -> tuple[str, ...]:
    """Return the pools that the spec of a pod selects: one, or those that its affinity allows; none where it says none.

    The affinity is read as Trainyard writes it for several pools: one expression with the operator `In`.
    """
    selector = spec.get("nodeSelector") if isinstance(spec, Mapping) else None
    name = selector.get(POOL) if isinstance(selector, Mapping) else None
    if isinstance(name, str):
        return (name,)
    terms = spec
    for key in REQUIRED:
        terms = terms.get(key) if isinstance(terms, Mapping) else None
    found = [allowed_pools(term) for term in terms] if isinstance(terms, Sequence) else []
    return tuple(dict.fromkeys(name for names in found for name in names)) if all(found) else ()


def allowed_pools(term: Any) -> list[str]:
    """Return the pools that one term of an affinity allows; none where it speaks of no pool."""
    expressions = term.get("matchExpressions") if isinstance(term, Mapping) else None
    for expression in expressions if isinstance(expressions, Sequence) else ():
        if isinstance(expression, Mapping) and expression.get("key") == POOL and expression.get("operator") == "In":
            values = expression.get("values")
            return [value for value in values if isinstance(value, str)] if isinstance(values, Sequence) else []
    return []
