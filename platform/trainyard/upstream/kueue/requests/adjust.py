"""Pods as Kueue counts them: with overhead of their RuntimeClass, defaults of LimitRanges, and limits as requests.

Source: kueue v0.19.2 pkg/workload/resources.go AdjustResources. LimitRanges come before limits become requests; on
the API server it is the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.upstream.kueue.model.placements import Surroundings
from trainyard.upstream.kueue.model.workloads import Workload
from trainyard.upstream.kueue.requests.limits import CONTAINER, POD, Summary, summarize_ranges

Spec = Mapping[str, Any]

NONE: Mapping[str, Any] = {}


def adjusted_specs(workload: Workload, around: Surroundings) -> tuple[Spec, ...]:
    """Return the pods of each pod set as they are counted."""
    ranges = [
        limit_range
        for limit_range in around.limit_ranges.get(workload.namespace, ())
        if any(item.get("type") in (CONTAINER, POD) for item in limits_of(limit_range))
    ]
    summary = summarize_ranges(ranges)
    return tuple(counted_as(pod_set.spec, summary, around) for pod_set in workload.pod_sets)


def limits_of(limit_range: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Return the items of a LimitRange."""
    found: Iterable[Mapping[str, Any]] = (limit_range.get("spec") or NONE).get("limits") or ()
    return found


def counted_as(spec: Spec, summary: Mapping[str, Summary], around: Surroundings) -> Spec:
    """Return a pod as it is counted."""
    out = dict(spec)
    if not spec.get("overhead") and spec.get("runtimeClassName") is not None:
        runtime = around.runtime_classes.get(spec["runtimeClassName"]) or NONE
        overhead = (runtime.get("overhead") or NONE).get("podFixed")
        if overhead:
            out["overhead"] = overhead
    for field in ("initContainers", "containers"):
        if spec.get(field):
            out[field] = [
                {**container, "resources": fill_resources(container.get("resources"), summary.get(CONTAINER))}
                for container in spec[field]
            ]
    if spec.get("resources") is not None:
        out["resources"] = fill_resources(spec["resources"], summary.get(POD))
    return out


def fill_resources(resources: Mapping[str, Any] | None, summary: Summary | None) -> dict[str, Any]:
    """Return limits and requests with their defaults, and what has a limit alone as requested."""
    found = resources or NONE
    limits, requests = found.get("limits") or NONE, found.get("requests") or NONE
    if summary is not None:
        limits, requests = {**summary.default, **limits}, {**summary.default_request, **requests}
    return {**found, "limits": limits, "requests": {**limits, **requests}}
