"""CSINodes, in which storage drivers say what they can do on a node: names, counts, and what stays of each.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/storage/validation/validation.go ValidateCSINode.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.shapes import Object, child, each, inner, number, text, texts
from trainyard.upstream.apiserver.core.storage import SOURCE
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

NODE = Rule(
    "core/csi-node",
    f"{SOURCE} ValidateCSINode",
    title="A CSINode names each driver and node once, with valid counts.",
    fix="list each driver once with its nodeID; allocatable.count is 0 or more",
)
NODE_UPDATE = Rule(
    "update/csi-node",
    f"{SOURCE} ValidateCSINodeUpdate",
    title="An update keeps the existing drivers of a CSINode.",
    fix="restore the driver; only new drivers may be added",
)

_LONGEST_DRIVER = 63
_LONGEST_NODE_ID = 256


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a CSINode, and a change of a driver that is registered."""
    seen: set[str] = set()
    drivers = each(inner(value, "spec"), "drivers")
    for index, driver in drivers:
        path = ("spec", "drivers", index)
        yield from _check_registration(driver, path)
        if (name := text(driver, "name")) in seen:
            yield NODE.duplicate((*path, "name"), name)
        seen.add(name)
    if old is not None:
        before = {text(driver, "name"): driver for _, driver in each(inner(old, "spec"), "drivers")}
        for index, driver in drivers:
            was = before.get(text(driver, "name"))
            if was is not None:
                path = ("spec", "drivers", index)
                yield from check_immutable(_fixed(driver), _fixed(was), path, NODE_UPDATE)


def _fixed(driver: Object) -> Object:
    """Return the fields of a driver that an update may not change."""
    return {key: value for key, value in driver.items() if key != "allocatable"}


def _check_registration(driver: Object, path: Path) -> Iterator[Problem]:
    yield from check_driver_name(text(driver, "name"), (*path, "name"), NODE)
    identity = text(driver, "nodeID")
    if not identity:
        yield NODE.required((*path, "nodeID"))
    elif names.size(identity) > _LONGEST_NODE_ID:
        yield NODE.too_long((*path, "nodeID"), _LONGEST_NODE_ID)
    count = number(child(driver, "allocatable") or {}, "count")
    if count is not None and count < 0:
        yield NODE.invalid((*path, "allocatable", "count"), count, "must be greater than or equal to 0")
    keys: set[str] = set()
    for index, key in texts(driver, "topologyKeys"):
        if detail := names.label_key(key):
            yield NODE.invalid((*path, "topologyKeys", index), key, detail)
        elif key in keys:
            yield NODE.duplicate((*path, "topologyKeys", index), key)
        keys.add(key)


def check_driver_name(name: str, path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield the problems with the name of a CSI driver, in which case does not count."""
    if not name:
        yield rule.required(path)
    elif names.size(name) > _LONGEST_DRIVER:
        yield rule.too_long(path, _LONGEST_DRIVER)
    elif detail := names.dns_subdomain(name.lower()):
        yield rule.invalid(path, name, detail)
