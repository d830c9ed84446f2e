"""The components of an AppWrapper: which pods their objects have, as the component declares or AppWrapper finds them.

Source: appwrapper v1.2.1 pkg/utils/utils.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trainyard.base.findings import Path
from trainyard.base.manifests import identity_of, maps_in, value_at
from trainyard.upstream.workloads.appwrapper import VERSIONS
from trainyard.upstream.workloads.base import Carrier, Object, PodSet, inner, number

ROOT = "template"
"""What every declared path begins with: the component's object."""

STEP = re.compile(r"\[(?P<index>[^\]]*)\]|\.(?P<key>[^.\[]+)")


class NoPathError(ValueError):
    """A declared path that leads nowhere; the text says why."""


def components_of(value: Object) -> list[dict[str, Any]]:
    """Return the components of an AppWrapper; malformed ones are left out."""
    return maps_in(inner(value, "spec").get("components"))


def follow(held: Object, path: str) -> Path:
    """Return the path to a pod template that `template.spec.jobs[0].template` declares; raises NoPathError."""
    if not path.startswith(ROOT):
        raise NoPathError(f"it must begin with '{ROOT}'")
    found: list[str | int] = []
    value: Any = held
    place = len(ROOT)
    while place < len(path):
        step = STEP.match(path, place)
        if step is None:
            raise NoPathError(f"{path[place:]!r} is neither '.field' nor '[index]'")
        key = step_of(step)
        value = value_at(value, (key,), NoPathError)
        if value is NoPathError:
            raise NoPathError(f"{path[: step.end()]!r} does not exist")
        found.append(key)
        place = step.end()
    if not isinstance(value, Mapping) or not isinstance(value.get("spec"), Mapping):
        raise NoPathError(f"{path!r} has no spec of a pod")
    return tuple(found)


def step_of(step: re.Match[str]) -> str | int:
    """Return the field or the index of one step of a declared path."""
    index = step["index"]
    if index is None:
        return step["key"]
    if not (index.isascii() and index.isdigit()):
        raise NoPathError(f"[{index}] is not an index")
    return int(index)


def inferred(held: Object, row: Carrier | None) -> list[PodSet]:
    """Return the pod sets that AppWrapper finds in an object by itself; none in kinds and versions unknown to it.

    A RayJob's submitter is not among them, and a group of Ray has as many pods as replicas, 1 where nothing is said.
    """
    identity = identity_of(held)
    version = str(held.get("apiVersion") or "").rpartition("/")[2]
    if row is None or VERSIONS.get((identity.group, identity.kind)) != version:
        return []
    counted = (found for found in row.pod_sets(held) if found.counted)
    return [
        replace(found, count=number(value_at(held, found.template[:-1]), "replicas", 1))
        if "workerGroupSpecs" in found.template
        else found
        for found in counted
        if found.template[-1:] != ("submitterPodTemplate",)
    ]
