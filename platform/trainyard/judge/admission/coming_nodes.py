"""Nodes that do not exist yet: decisions are those of the cluster with every pool at its largest.

Kueue asks for nodes in an admission check, after it has reserved quota and before it places pods (kueue v0.19.2
pkg/scheduler/flavorassigner/tas_flavorassigner.go). The check is taken for answered here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.render.clusters.provisioning import CONTROLLER

Object = Mapping[str, Any]


def with_nodes(values: Iterable[Object]) -> Iterator[Object]:
    """Yield objects without the checks in which Kueue asks for nodes."""
    every = list(values)
    asked = {value["metadata"]["name"] for value in every if asks_for_nodes(value)}
    for value in every:
        if value["kind"] == "ClusterQueue" and asked:
            yield strip_checks(value, asked)
        elif not asks_for_nodes(value):
            yield value


def asks_for_nodes(value: Object) -> bool:
    """Whether an object is an admission check in which Kueue asks for nodes."""
    return value["kind"] == "AdmissionCheck" and (value.get("spec") or {}).get("controllerName") == CONTROLLER


def strip_checks(queue: Object, checks: set[str]) -> Object:
    """Return a ClusterQueue without some of its checks."""
    spec = dict(queue.get("spec") or {})
    rules = (spec.pop("admissionChecksStrategy", None) or {}).get("admissionChecks") or []
    kept = [rule for rule in rules if rule.get("name") not in checks]
    if kept:
        spec["admissionChecksStrategy"] = {"admissionChecks": kept}
    return {**queue, "spec": spec}
