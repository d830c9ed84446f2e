"""Which nodes are those of a pool: the labels that select them, how pods name them, and which pools a pod names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.base.labels import POOL

Selector = Mapping[str, str]
"""Labels that all nodes of one pool have, and no node of another."""

Selectors = Mapping[str, Selector]
"""The selector of each pool, by the pool's name."""

REQUIRED = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")


def selector_of(name: str, own: Selector | None = None) -> dict[str, str]:
    """Return the labels that select the nodes of a pool: its own selector, or else the label with the pool's name."""
    return dict(own) if own else {POOL: name}


def selector_text(labels: Selector, between: str = ",") -> str:
    """Return labels as kubectl and other commands take them: `a=b,c=d`."""
    return between.join(f"{key}={value}" for key, value in labels.items())


def declared_selectors(cluster: Any) -> Selectors:
    """Return the selectors of a cluster's pools, from its file as it is written; what is no pool there has none."""
    pools = cluster.get("pools") if isinstance(cluster, Mapping) else None
    found = {}
    for name, pool in pools.items() if isinstance(pools, Mapping) else ():
        own = pool.get("selector") if isinstance(pool, Mapping) else None
        pairs = own.items() if isinstance(own, Mapping) else ()
        found[str(name)] = selector_of(str(name), {str(key): str(value) for key, value in pairs})
    return found


def excludes(one: Selector, other: Selector) -> bool:
    """Whether no node can have the labels of both: they give one label different values."""
    return any(other.get(key, value) != value for key, value in one.items())


def pools_with(labels: Selector, selectors: Selectors) -> list[str]:
    """Return the pools whose nodes have such labels, by what selects them."""
    return [name for name, selector in selectors.items() if selector.items() <= labels.items()]


def node_terms(selectors: Iterable[Selector]) -> list[dict[str, Any]]:
    """Return the terms of a node affinity that any of these selectors meets.

    Selectors of one label are one expression for each label, so that pods of several pools have few terms.
    """
    selectors = list(selectors)
    by_label: dict[str, list[str]] = {}
    for selector in selectors:
        if len(selector) == 1:
            ((key, value),) = selector.items()
            by_label.setdefault(key, []).append(value)
    found: list[dict[str, Any]] = []
    for selector in selectors:
        if len(selector) > 1:
            found.append(node_term({key: [value] for key, value in selector.items()}))
        elif values := by_label.pop(next(iter(selector)), None):
            found.append(node_term({next(iter(selector)): values}))
    return found


def node_term(allowed: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the term of a node affinity that asks for one of some values of each label."""
    expressions = ({"key": key, "operator": "In", "values": list(values)} for key, values in allowed.items())
    return {"matchExpressions": list(expressions)}


def selected_pools(spec: Any, selectors: Selectors | None = None) -> tuple[str, ...]:
    """Return the pools that the spec of a pod selects: one, or those that its affinity allows; none where it says none.

    The affinity is read as `node_terms` writes it. A name in the usual label is taken for that pool: pods from before
    its nodes were selected in another way say so.
    """
    known = selectors or {}
    selector = spec.get("nodeSelector") if isinstance(spec, Mapping) else None
    pairs = selector.items() if isinstance(selector, Mapping) else ()
    named = allowed_pools({key: [value] for key, value in pairs if isinstance(value, str)}, known)
    if named:
        return tuple(named)
    terms = spec
    for key in REQUIRED:
        terms = terms.get(key) if isinstance(terms, Mapping) else None
    found = [allowed_pools(dict(allowed_values(term)), known) for term in terms] if isinstance(terms, Sequence) else []
    return tuple(dict.fromkeys(name for names in found for name in names)) if all(found) else ()


def allowed_values(term: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield the labels of which one term of an affinity names values, with these."""
    expressions = term.get("matchExpressions") if isinstance(term, Mapping) else None
    for expression in expressions if isinstance(expressions, Sequence) else ():
        if isinstance(expression, Mapping) and expression.get("operator") == "In":
            key, values = expression.get("key"), expression.get("values")
            if isinstance(key, str) and isinstance(values, Sequence):
                yield key, [value for value in values if isinstance(value, str)]


def allowed_pools(allowed: Mapping[str, Sequence[str]], selectors: Selectors) -> list[str]:
    """Return the pools of which nodes have one of some values of each label, in the order of the values."""
    places: dict[str, list[int]] = {
        name: [allowed[key].index(value) for key, value in selector.items()]
        for name, selector in selectors.items()
        if all(value in allowed.get(key, ()) for key, value in selector.items())
    }
    for place, name in enumerate(allowed.get(POOL, ())):
        places.setdefault(name, [place])
    return sorted(places, key=lambda name: places[name])
