"""What ResourceSlices may say from Kubernetes 1.36 on: nodes of single devices, shared counters, shares, taints.

Source: k8s.io/kubernetes v1.36.3 pkg/apis/resource/validation/validation.go validateResourceSliceSpec, validateDevice.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.resource.policies import check_policy
from trainyard.upstream.apiserver.core.resource.taints import check_taint
from trainyard.upstream.apiserver.core.selectors import check_node_selector
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, flag, inner, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.36.3 pkg/apis/resource/validation/validation.go"
SLICE = Rule(
    "core/resource-slice",
    f"{SOURCE} validateResourceSliceSpec",
    title="A ResourceSlice has a driver, a pool, one place for its nodes and unique devices.",
    fix="set exactly one of the node fields that the message names; list either devices or sharedCounters",
)
DEVICE = Rule(
    "core/slice-device",
    f"{SOURCE} validateDevice",
    title="Devices of a ResourceSlice have valid attributes, capacities, counters and taints.",
    fix="remove the field, or set the one that it needs; the message names both",
)

PLACES = ("nodeName", "nodeSelector", "allNodes")
_BINDING = ("bindingConditions", "bindingFailureConditions")
_MOST_CONDITIONS = 4
_MOST_TAINTS = 16


def check_spec(spec: Object) -> Iterator[Problem]:
    """Yield devices beside the counters that they would share."""
    if spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        yield SLICE.invalid(("spec",), "", "only one of sharedCounters or devices is allowed")


def check_device(device: Object, path: Path, *, apart: bool, minor: int) -> Iterator[Problem]:
    """Yield the problems with a device; `apart` where each device says itself on which nodes it is."""
    given = [field for field in PLACES if device.get(field) is not None]
    if not apart and given:
        yield DEVICE.invalid(path, given, "may only be set where the slice sets perDeviceNodeSelection")
    elif apart:
        yield from _check_places(device, path, given)
    yield from _check_capacities(device, path, minor)
    if count(device, "taints") > _MOST_TAINTS:
        yield DEVICE.too_many((*path, "taints"), count(device, "taints"), _MOST_TAINTS)
    for index, taint in each(device, "taints"):
        yield from check_taint(taint, (*path, "taints", index))
    for field, other in (_BINDING, _BINDING[::-1]):
        if count(device, field) and not count(device, other):
            yield DEVICE.invalid((*path, other), None, f"must be set to use {field}")
        if count(device, field) > _MOST_CONDITIONS:
            yield DEVICE.too_many((*path, field), count(device, field), _MOST_CONDITIONS)
    yield from _check_conditions(device, path)
    for index, used in each(device, "consumesCounters"):
        if detail := names.dns_label(text(used, "counterSet")):
            yield DEVICE.invalid((*path, "consumesCounters", index, "counterSet"), used.get("counterSet"), detail)


def _check_capacities(device: Object, path: Path, minor: int) -> Iterator[Problem]:
    """Yield policies of shares that cannot hold, or that stand at a device which is not shared."""
    shared = flag(device, "allowMultipleAllocations")
    for name, capacity in inner(device, "capacity").items():
        at = (*path, "capacity", name)
        if isinstance(capacity, dict) and shared:
            yield from check_policy(capacity, at, minor)
        elif isinstance(capacity, dict) and capacity.get("requestPolicy") is not None:
            yield DEVICE.forbidden((*at, "requestPolicy"), "allowMultipleAllocations must be true")


def _check_conditions(device: Object, path: Path) -> Iterator[Problem]:
    """Yield conditions of a binding that are no label names, or that stand twice."""
    seen: set[str] = set()
    for field in _BINDING:
        for index, condition in texts(device, field):
            if detail := names.label_key(condition):
                yield DEVICE.invalid((*path, field, index), condition, detail)
            if condition in seen:
                yield DEVICE.duplicate((*path, field, index), condition)
            seen.add(condition)


def _check_places(device: Object, path: Path, given: list[str]) -> Iterator[Problem]:
    for field in ("nodeName", "allNodes"):
        if device.get(field) in ("", False):
            yield DEVICE.invalid((*path, field), device[field], "must be unset, or name nodes")
            given = [one_name for one_name in given if one_name != field]
    if (name := text(device, "nodeName")) and (detail := names.dns_subdomain(name)):
        yield DEVICE.invalid((*path, "nodeName"), name, detail)
    if (selector := child(device, "nodeSelector")) is not None:
        yield from check_node_selector(selector, (*path, "nodeSelector"))
    if len(given) != 1:
        yield DEVICE.invalid(
            path, given, f"exactly one of {', '.join(PLACES)} is required, as perDeviceNodeSelection is set"
        )
