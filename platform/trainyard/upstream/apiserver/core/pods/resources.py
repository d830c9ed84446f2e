"""Requests, limits and device claims of containers and pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainyard.upstream.apiserver.core.amounts import NOT_QUANTITY, QUANTITY, as_int64, millis
from trainyard.upstream.apiserver.core.pods.rules import RESOURCES
from trainyard.upstream.apiserver.core.resourcenames import (
    container_resource_name,
    divides_page,
    is_whole,
    may_overcommit,
    pod_resource_name,
)
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, each, inner, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem
from trainyard.upstream.pods.demand import at_one_time, limits_of, requests_of
from trainyard.upstream.pods.pod import containers_of, parse_if_valid
from trainyard.upstream.pods.resources import HUGE_PAGES, is_huge_page

NameRule = Callable[[str], str | None]


def check_resources(
    resources: Object, claims: set[str], path: Path, rule: NameRule = container_resource_name
) -> Iterator[Problem]:
    """Yield the problems with requests and limits; `claims` are the names that the pod claims devices by."""
    limits = child(resources, "limits") or EMPTY
    requests = child(resources, "requests") or EMPTY
    for name, value in limits.items():
        yield from _check_amount(name, value, (*path, "limits", name), rule)
    for name, value in requests.items():
        if name not in limits or limits[name] != value:  # where they are the same, one mistake is said once
            yield from _check_amount(name, value, (*path, "requests", name), rule)
        yield from _check_against_limit(name, value, limits, path)
    together = {*limits, *requests}
    if any(map(is_huge_page, together)) and not together & {"cpu", "memory"}:
        yield RESOURCES.forbidden(path, "huge pages require cpu or memory")
    yield from _check_claims(resources, claims, (*path, "claims"))


def _check_amount(name: str, value: object, path: Path, rule: NameRule) -> Iterator[Problem]:
    if detail := rule(name):
        yield RESOURCES.invalid(path, name, detail)
    amount = millis(value)
    if amount is None:
        yield QUANTITY.invalid(path, value, NOT_QUANTITY)
        return
    if amount < 0:
        yield RESOURCES.invalid(path, value, "must be greater than or equal to 0")
    if is_whole(name) and as_int64(value, thousandths=True) % 1000:
        yield RESOURCES.invalid(path, value, "must be an integer")
    if is_huge_page(name) and not divides_page(name, amount * 1_000_000):
        yield RESOURCES.invalid(path, value, f"must be a multiple of {name.removeprefix(HUGE_PAGES)}")


def _check_against_limit(name: str, value: object, limits: Object, path: Path) -> Iterator[Problem]:
    amount = millis(value)
    if name not in limits:
        if not may_overcommit(name):
            yield RESOURCES.required((*path, "limits", name), "a limit must be set for a resource without overcommit")
        return
    limit = millis(limits[name])
    if amount is None or limit is None:
        return
    if amount != limit and not may_overcommit(name):
        yield RESOURCES.invalid(
            (*path, "requests", name), value, f"must be equal to the {name} limit of {limits[name]}"
        )
    elif amount > limit:
        detail = f"must be less than or equal to the {name} limit of {limits[name]}"
        yield RESOURCES.invalid((*path, "requests", name), value, detail)


def _check_claims(resources: Object, claims: set[str], path: Path) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, claim in each(resources, "claims"):
        name, request = text(claim, "name"), text(claim, "request")
        at = (*path, index)
        if not name:
            yield RESOURCES.required((*at, "name"))
            continue
        if request and (detail := names.dns_label(request)):
            yield RESOURCES.invalid((*at, "request"), request, detail)
        key = f"{name}/{request}" if request else name
        whole_after_part = not request and any(other.startswith(f"{name}/") for other in seen)
        if name in seen or key in seen or whole_after_part:
            yield RESOURCES.duplicate(at, key)
        seen.add(key)
        if name not in claims:
            yield RESOURCES.missing(at, name, "must be one of the names in spec.resourceClaims")


def check_overhead(spec: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with the pod's overhead, which is judged as limits."""
    if child(spec, "overhead") is not None:
        yield from check_resources({"limits": spec["overhead"]}, set(), (*path, "overhead"))


def check_pod_resources(spec: Object, claims: set[str], path: Path) -> Iterator[Problem]:
    """Yield the problems with resources of the whole pod, also against the sum of its containers."""
    if (resources := child(spec, "resources")) is None:
        return
    at = (*path, "resources")
    if inner(spec, "os").get("name") == "windows":
        yield RESOURCES.forbidden(at, "may not be set for a windows pod")
        return
    if resources.get("claims") is not None:
        yield RESOURCES.forbidden((*at, "claims"), "may not be set at pod level")
    yield from check_resources(resources, claims, at, pod_resource_name)
    yield from _check_sums(spec, resources, at)
    for index, container in each(spec, "containers"):
        for name, value in inner(container, "resources", "limits").items():
            own, pods = millis(value), millis(inner(resources, "limits").get(name))
            if name in inner(resources, "limits") and own is not None and pods is not None and own > pods:
                where = (*path, "containers", index, "resources", "limits", name)
                yield RESOURCES.invalid(where, value, "must be at most the limit of the pod")


def _check_sums(spec: Object, resources: Object, path: Path) -> Iterator[Problem]:
    containers = tuple(containers_of(spec, parse_if_valid))
    for kind, amounts in (("requests", requests_of), ("limits", limits_of)):
        declared = inner(resources, kind)
        if not declared:
            continue
        for name, total in at_one_time(containers, amounts).items():
            amount = parse_if_valid(declared[name]) if name in declared else None
            if amount is None or (kind == "limits" and not is_huge_page(name)):
                continue
            if total > amount:
                where = (*path, kind, name)
                yield RESOURCES.invalid(where, declared[name], f"must be at least the sum of the containers' {kind}")
