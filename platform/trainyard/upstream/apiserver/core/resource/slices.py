"""ResourceSlices, in which device drivers say what a node has: where it is, its pool, and every device.

Before Kubernetes 1.36, counters, taints, nodes of single devices and request policies are behind gates: the server
drops them. What it asks of them from then on is in `slicefeatures`.
Source: k8s.io/kubernetes v1.35.4 pkg/apis/resource/validation/validation.go validateResourceSliceSpec.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.pods.sources import driver_name
from trainyard.upstream.apiserver.core.resource import slicefeatures
from trainyard.upstream.apiserver.core.resource.claims import SOURCE, attribute_name
from trainyard.upstream.apiserver.core.selectors import check_node_selector
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, flag, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SLICE = slicefeatures.SLICE.of_source(f"{SOURCE} validateResourceSliceSpec")
SLICE_UPDATE = Rule(
    "update/resource-slice",
    f"{SOURCE} ValidateResourceSliceUpdate",
    title="An update keeps the driver, the pool and the node of a ResourceSlice.",
    fix="restore the field, or create another ResourceSlice",
)
DEVICE = slicefeatures.DEVICE.of_source(f"{SOURCE} validateDevice")

_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_WITH_FEATURES = 36
_KINDS = ("bool", "int", "string", "version")
_MOST = 128
_MOST_ATTRIBUTES = 32
_LONGEST_VALUE, _LONGEST_POOL = 64, 253
_NUMBER = r"(?:0|[1-9]\d*)"
_PART = r"(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PART}(?:\.{_PART})*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?", re.ASCII
)
_OFF = ("partitionTypeAttribute", "skipNodeOperations")
"""Gates DRAPartitionableDevicesType, DRAOptionalNodeOperations."""
_OFF_OF_DEVICES = ("nodeAllocatableResourceMappings", "nodeAllocatableResources")
"""Gate DRANodeAllocatableResources."""
_GATED_OF_DEVICES = (
    "allNodes", "allowMultipleAllocations", "bindingConditions", "bindingFailureConditions", "bindsToNode",
    "consumesCounters", "nodeName", "nodeSelector", "taints",
)  # fmt: skip


def default(value: Object, minor: int) -> None:
    """Drop from a ResourceSlice what the release does not look at."""
    if (spec := child(value, "spec")) is None:
        return
    for field in _OFF:
        spec.pop(field, None)
    for _, device in each(spec, "devices"):
        for field in _OFF_OF_DEVICES:
            device.pop(field, None)
        for _, used in each(device, "consumesCounters"):
            used.pop("compatibilityGroups", None)
    if minor >= _WITH_FEATURES:
        return
    for field in ("perDeviceNodeSelection", "sharedCounters"):
        spec.pop(field, None)
    for _, device in each(spec, "devices"):
        for field in _GATED_OF_DEVICES:
            device.pop(field, None)
        for capacity in inner(device, "capacity").values():
            if isinstance(capacity, dict):
                capacity.pop("requestPolicy", None)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a ResourceSlice, and a change of whose devices it lists."""
    spec = inner(value, "spec")
    driver = text(spec, "driver")
    if not driver:
        yield SLICE.required(("spec", "driver"))
    elif detail := driver_name(driver):
        yield SLICE.invalid(("spec", "driver"), driver, detail)
    yield from _check_pool(inner(spec, "pool"), ("spec", "pool"))
    yield from _check_places(spec)
    yield from _check_devices(spec)
    if minor(kubernetes) >= _WITH_FEATURES:
        yield from slicefeatures.check_spec(spec)
        for index, device in each(spec, "devices"):
            apart = flag(spec, "perDeviceNodeSelection")
            at = ("spec", "devices", index)
            yield from slicefeatures.check_device(device, at, apart=apart, minor=minor(kubernetes))
    if old is not None:
        before = inner(old, "spec")
        for field in ("driver", "nodeName"):
            yield from check_immutable(spec.get(field), before.get(field), ("spec", field), SLICE_UPDATE)
        now, was = inner(spec, "pool").get("name"), inner(before, "pool").get("name")
        yield from check_immutable(now, was, ("spec", "pool", "name"), SLICE_UPDATE)


def _check_pool(pool: Object, path: Path) -> Iterator[Problem]:
    name = text(pool, "name")
    if not name:
        yield SLICE.required((*path, "name"))
    elif names.size(name) > _LONGEST_POOL:
        yield SLICE.too_long((*path, "name"), _LONGEST_POOL)
    elif detail := next((found for part in name.split("/") if (found := names.dns_subdomain(part))), None):
        yield SLICE.invalid((*path, "name"), name, detail)
    slices, generation = number(pool, "resourceSliceCount") or 0, number(pool, "generation") or 0
    if slices <= 0:
        yield SLICE.invalid((*path, "resourceSliceCount"), slices, "must be greater than zero")
    if generation < 0:
        yield SLICE.invalid((*path, "generation"), generation, "must be greater than or equal to zero")


def _check_places(spec: Object) -> Iterator[Problem]:
    """Yield the problems with where devices are: exactly one of the fields says so."""
    path = ("spec",)
    given = []
    for field in _PLACES:
        value = spec.get(field)
        if value is None:
            continue
        if value in ("", False):
            yield SLICE.invalid((*path, field), value, "must be unset, or name nodes")
        else:
            given.append(field)
    if (name := text(spec, "nodeName")) and (detail := names.dns_subdomain(name)):
        yield SLICE.invalid((*path, "nodeName"), name, detail)
    if (selector := child(spec, "nodeSelector")) is not None:
        yield from check_node_selector(selector, (*path, "nodeSelector"))
        if count(selector, "nodeSelectorTerms") > 1:
            yield SLICE.invalid((*path, "nodeSelector", "nodeSelectorTerms"), selector, "must have exactly one term")
    if not given:
        yield SLICE.required(path, f"exactly one of {', '.join(_PLACES)}")
    elif len(given) > 1:
        yield SLICE.invalid(path, given, f"exactly one of {', '.join(_PLACES)} may be set")


def _check_devices(spec: Object) -> Iterator[Problem]:
    devices = each(spec, "devices")
    if count(spec, "devices") > _MOST:
        yield SLICE.too_many(("spec", "devices"), count(spec, "devices"), _MOST)
    seen: set[str] = set()
    for index, device in devices:
        path = ("spec", "devices", index)
        if (name := text(device, "name")) in seen:
            yield DEVICE.duplicate(path, name)
        seen.add(name)
        yield from _check_device(device, path)


def _check_device(device: Object, path: Path) -> Iterator[Problem]:
    name = text(device, "name")
    if detail := names.dns_label(name):
        yield DEVICE.invalid((*path, "name"), name, detail)
    if (total := count(device, "attributes") + count(device, "capacity")) > _MOST_ATTRIBUTES:
        yield DEVICE.too_many(path, total, _MOST_ATTRIBUTES)
    for field in ("attributes", "capacity"):
        for key in inner(device, field):
            if detail := attribute_name(key, qualified=False):
                yield DEVICE.invalid((*path, field, key), key, detail)
    for key, attribute in inner(device, "attributes").items():
        yield from _check_attribute(attribute if type(attribute) is dict else {}, (*path, "attributes", key))


def _check_attribute(attribute: Object, path: Path) -> Iterator[Problem]:
    """Yield an attribute that has no value, several, or one of the wrong form."""
    given = [kind for kind in _KINDS if attribute.get(kind) is not None]
    if len(given) != 1:
        yield DEVICE.invalid(path, attribute, f"must have exactly one of {', '.join(_KINDS)}")
    for kind in ("string", "version"):
        if names.size(text(attribute, kind)) > _LONGEST_VALUE:
            yield DEVICE.too_long((*path, kind), _LONGEST_VALUE)
    version = attribute.get("version")
    if type(version) is str and not _SEMVER.fullmatch(version):
        yield DEVICE.invalid((*path, "version"), version, "must be a semantic version, such as 1.2.3")
