"""Whether pods may use a flavor at all: its taints, and its own labels (kueue v0.19.2 flavorassigner.go)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trainyard.upstream.kueue.model.flavors import ResourceFlavor
from trainyard.upstream.pods.selection import meets_expression, required_of
from trainyard.upstream.pods.taints import Toleration, untolerated_taint


def tolerations(spec: Mapping[str, Any]) -> tuple[Toleration, ...]:
    """Return the tolerations of a pod."""
    return tuple(map(Toleration.read, spec.get("tolerations") or ()))


def mismatch(spec: Mapping[str, Any], flavor: ResourceFlavor, keys: Collection[str] | None = None) -> str | None:
    """Return why pods of this shape cannot use the flavor.

    `keys` are the labels that count, by default the flavor's own; those of its whole resource group count in old
    releases (`Gates.own_keys`).
    """
    taint = untolerated_taint(flavor.node_taints, (*tolerations(spec), *flavor.tolerations))
    if taint is not None:
        return f"untolerated taint {{{taint.key} {taint.value} {taint.effect} <nil>}} in flavor {flavor.name}"
    if not _wanted(spec, flavor.node_labels, flavor.node_labels if keys is None else keys):
        return f"flavor {flavor.name} doesn't match node affinity"
    return None


def _wanted(spec: Mapping[str, Any], labels: Mapping[str, str], keys: Collection[str]) -> bool:
    """Say whether selector and affinity are met, as far as they speak of labels that count.

    A term that speaks of none of them is met by every flavor, and with it the whole affinity.
    """
    selector: Mapping[str, str] = spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items() if key in keys):
        return False
    terms = [
        [
            match_expression
            for match_expression in term.get("matchExpressions") or ()
            if match_expression.get("key") in keys
        ]
        for term in (required_of(spec) or {}).get("nodeSelectorTerms") or ()
    ]
    if not terms or not all(terms):
        return True
    return any(all(meets_expression(expression, labels) for expression in term) for term in terms)
