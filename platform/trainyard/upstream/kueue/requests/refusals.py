"""What Kueue refuses before it asks for quota: requests above limits, and what LimitRanges do not allow.

Source: kueue v0.19.2 pkg/workload/resources.go ValidateResources, ValidateLimitRange, pkg/util/limitrange.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.upstream.kueue.model.placements import Surroundings
from trainyard.upstream.kueue.model.workloads import Workload
from trainyard.upstream.kueue.requests.amounts import counted_amounts, written_amounts
from trainyard.upstream.kueue.requests.limits import (
    CONTAINER,
    POD,
    Summary,
    merge_amounts,
    quantities,
    summarize_ranges,
)
from trainyard.upstream.kueue.requests.messages import join_messages
from trainyard.upstream.pods.demand import Resources

LIMIT = "requests must not exceed its limits"
MOST = "requests must not be above the limitRange max"
LEAST = "requests must not be below the limitRange min"

Spec = Mapping[str, Any]


def refusal(workload: Workload, specs: Sequence[Spec], around: Surroundings) -> str | None:
    """Return why pods are not admissible whatever quota there is, None where they are."""
    found = list(above_limits(specs))
    if found:
        return f"resources validation failed: {join_messages(found)}"
    summary = summarize_ranges(around.limit_ranges.get(workload.namespace, ()))
    found = list(out_of_range(specs, summary))
    return f"resources didn't satisfy LimitRange constraints: {join_messages(found)}" if found else None


def invalid(path: str, names: Sequence[str], why: str) -> str:
    """Return the message on resources of a field."""
    listed = ",".join(f'"{name}"' for name in names)
    return f"{path}: Invalid value: [{listed}]: {why}"


def above(larger: Resources, smaller: Resources) -> list[str]:
    """Return the resources of both of which one amount is above the other, rounded up."""
    left, right = counted_amounts(larger), counted_amounts(smaller)
    return sorted(name for name in left.keys() & right.keys() if left[name] > right[name])


def above_limits(specs: Sequence[Spec]) -> Iterator[str]:
    """Yield requests that are above their limits."""
    for index, spec in enumerate(specs):
        path = f"spec.podSets[{index}].template.spec"
        for where, resources in containers(spec, path):
            names = above(quantities(resources.get("requests")), quantities(resources.get("limits")))
            if names:
                yield invalid(where, names, LIMIT)
        own = spec.get("resources") or {}
        names = above(quantities(own.get("requests")), quantities(own.get("limits")))
        if names:
            yield invalid(f"{path}.resources", names, LIMIT)


def containers(spec: Spec, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield path and resources of every container."""
    for field in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(field) or ()):
            yield f"{path}.{field}[{index}]", container.get("resources") or {}


def out_of_range(specs: Sequence[Spec], summary: Mapping[str, Summary]) -> Iterator[str]:
    """Yield the requests that LimitRanges do not allow."""
    for index, spec in enumerate(specs):
        path = f"spec.podSets[{index}].template.spec"
        if CONTAINER in summary:
            for where, resources in containers(spec, path):
                requests, limits = quantities(resources.get("requests")), quantities(resources.get("limits"))
                yield from check_bounds(
                    where,
                    merge_amounts(requests, limits, max),
                    merge_amounts(requests, limits, min),
                    summary[CONTAINER],
                )
        if POD in summary:
            total = written_amounts(spec)
            yield from check_bounds(path, total, total, summary[POD])


def check_bounds(path: str, most: Resources, least: Resources, summary: Summary) -> Iterator[str]:
    """Yield amounts beyond a summary's bounds."""
    if names := above(most, summary.most):
        yield invalid(path, names, MOST)
    if names := above(summary.least, least):
        yield invalid(path, names, LEAST)
