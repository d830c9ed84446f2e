"""What Kueue refuses before it asks for quota: requests above limits, and what LimitRanges do not allow.

Source: kueue v0.19.2 pkg/workload/resources.go ValidateResources, ValidateLimitRange, pkg/util/limitrange.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.pods.demand import Resources
from trainyard.queueing.model.placements import Surroundings
from trainyard.queueing.model.workloads import Workload
from trainyard.queueing.requests.amounts import asked, counted_amounts
from trainyard.queueing.requests.limits import CONTAINER, POD, Summary, merged, quantities, summarized
from trainyard.queueing.requests.messages import joined

LIMIT = "requests must not exceed its limits"
MOST = "requests must not be above the limitRange max"
LEAST = "requests must not be below the limitRange min"

Spec = Mapping[str, Any]


def refusal(workload: Workload, specs: Sequence[Spec], around: Surroundings) -> str | None:
    """Return why pods are not admissible whatever quota there is, None where they are."""
    found = list(above_limits(specs))
    if found:
        return f"resources validation failed: {joined(found)}"
    summary = summarized(around.limit_ranges.get(workload.namespace, ()))
    found = list(out_of_range(specs, summary))
    return f"resources didn't satisfy LimitRange constraints: {joined(found)}" if found else None


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
    """Yield what LimitRanges do not allow."""
    for index, spec in enumerate(specs):
        path = f"spec.podSets[{index}].template.spec"
        if CONTAINER in summary:
            for where, resources in containers(spec, path):
                requests, limits = quantities(resources.get("requests")), quantities(resources.get("limits"))
                yield from bounded(
                    where, merged(requests, limits, max), merged(requests, limits, min), summary[CONTAINER]
                )
        if POD in summary:
            total = asked(spec)
            yield from bounded(path, total, total, summary[POD])


def bounded(path: str, most: Resources, least: Resources, summary: Summary) -> Iterator[str]:
    """Yield amounts beyond a summary's bounds."""
    if names := above(most, summary.most):
        yield invalid(path, names, MOST)
    if names := above(summary.least, least):
        yield invalid(path, names, LEAST)
