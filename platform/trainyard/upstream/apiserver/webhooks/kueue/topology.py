"""Topology annotations of pod templates: which may stand together, and what their values may be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.upstream.apiserver.core.shapes import Object, inner
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks import golang
from trainyard.upstream.apiserver.webhooks.around import Review
from trainyard.upstream.apiserver.webhooks.kueue import gates

TOPOLOGY = Rule(
    "webhook/topology-request",
    "kueue v0.19.2 pkg/controller/jobframework/tas_validation.go",
    title="Topology annotations of a pod template are valid and agree.",
    fix="set one of the required, preferred and unconstrained topology annotations; slices also need a size",
)

REQUIRED = "kueue.x-k8s.io/podset-required-topology"
PREFERRED = "kueue.x-k8s.io/podset-preferred-topology"
UNCONSTRAINED = "kueue.x-k8s.io/podset-unconstrained-topology"
SLICE = "kueue.x-k8s.io/podset-slice-required-topology"
SLICE_SIZE = "kueue.x-k8s.io/podset-slice-size"
LAYERS = "kueue.x-k8s.io/podset-slice-required-topology-constraints"
GROUP = "kueue.x-k8s.io/podset-group-name"

_MOST_LAYERS = 3


@dataclass(frozen=True, slots=True)
class PodSet:
    """Pods of one template, as Kueue counts them; `path` leads to the template's metadata."""

    name: str
    metadata: Object
    path: Path
    count: int | None = None
    """How many pods; None where it cannot be told."""

    @property
    def annotations(self) -> Object:
        """The annotations of the template, or an empty map."""
        return inner(self.metadata, "annotations")


def check_pod_sets(pod_sets: Sequence[PodSet], review: Review, *, grouped: bool) -> Iterator[Problem]:
    """Yield the problems with the annotations of a job's templates; `grouped` kinds place two sets together.

    They are looked at while Kueue's gate TopologyAwareScheduling is on.
    """
    if not gates.enabled(review, "TopologyAwareScheduling"):
        return
    for pod_set in pod_sets:
        yield from check_request(pod_set, layered=gates.enabled(review, "TASMultiLayerTopology"))
    if grouped:
        yield from _check_groups(pod_sets)


def check_request(pod_set: PodSet, *, layered: bool = True) -> Iterator[Problem]:
    """Yield the problems with the annotations of one template."""
    found, at = pod_set.annotations, (*pod_set.path, "annotations")
    if not found:
        return
    if sum(key in found for key in (REQUIRED, PREFERRED, UNCONSTRAINED)) > 1:
        detail = f"at most one of {REQUIRED}, {PREFERRED} and {UNCONSTRAINED} may be set"
        yield TOPOLOGY.invalid(at, sorted(found), detail)
    for key in (REQUIRED, PREFERRED, SLICE):
        if key in found and (detail := names.label_key(found[key]) or ""):
            yield TOPOLOGY.invalid((*at, key), found[key], detail)
    yield from _check_group_name(found, at)
    if UNCONSTRAINED in found and golang.boolean(str(found[UNCONSTRAINED])) is None:
        yield TOPOLOGY.invalid((*at, UNCONSTRAINED), found[UNCONSTRAINED], "must be a boolean value")
    yield from _check_slice(found, at, pod_set.count)
    if layered:
        yield from _check_layers(found, at, pod_set.count)
    elif LAYERS in found:
        yield TOPOLOGY.forbidden((*at, LAYERS), "layers need the gate TASMultiLayerTopology, on since Kueue 0.19")


def _check_group_name(found: Object, at: Path) -> Iterator[Problem]:
    if GROUP not in found:
        return
    here: Path = (*at, GROUP)
    if golang.parse_unsigned(str(found[GROUP])) is not None:
        yield TOPOLOGY.invalid(here, found[GROUP], "must not be a number")
    for key in (SLICE_SIZE, SLICE, LAYERS):
        if key in found:
            yield TOPOLOGY.forbidden(here, f"may not be set when {key} is")
    if PREFERRED not in found and REQUIRED not in found:
        yield TOPOLOGY.forbidden(here, f"needs {PREFERRED} or {REQUIRED}")


def _check_slice(found: Object, at: Path, count: int | None) -> Iterator[Problem]:
    here: Path = (*at, SLICE_SIZE)
    if SLICE in found and SLICE_SIZE not in found:
        yield TOPOLOGY.required(here, f"must be set when {SLICE} is")
    if SLICE_SIZE not in found:
        return
    if SLICE not in found:
        yield TOPOLOGY.forbidden(here, f"may not be set without {SLICE}")
    size = golang.integer(str(found[SLICE_SIZE]), bits=32)
    if size is None:
        yield TOPOLOGY.invalid(here, found[SLICE_SIZE], "must be a number")
    elif size < 1:
        yield TOPOLOGY.invalid(here, found[SLICE_SIZE], "must be greater than or equal to 1")
    elif count is not None and size > count:
        yield TOPOLOGY.invalid(here, found[SLICE_SIZE], f"must not be greater than the {count} pods of the set")


def _check_layers(found: Object, at: Path, count: int | None) -> Iterator[Problem]:
    if LAYERS not in found:
        return
    here: Path = (*at, LAYERS)
    for key in (SLICE, SLICE_SIZE):
        if key in found:
            yield TOPOLOGY.forbidden(here, f"may not be set when {key} is")
    layers = _layers(str(found[LAYERS]))
    if layers is None:
        yield TOPOLOGY.invalid(here, found[LAYERS], "must be a JSON list of topology and size")
        return
    if not 1 <= len(layers) <= _MOST_LAYERS:
        yield TOPOLOGY.invalid(here, found[LAYERS], f"must have 1 to {_MOST_LAYERS} layers")
        return
    seen: set[str] = set()
    above = 0
    for topology, size in layers:
        if detail := names.label_key(topology):
            yield TOPOLOGY.invalid(here, topology, detail)
        if topology in seen:
            yield TOPOLOGY.duplicate(here, topology)
        seen.add(topology)
        if size < 1:
            yield TOPOLOGY.invalid(here, size, "must be greater than or equal to 1")
        elif above % size:
            yield TOPOLOGY.invalid(here, size, f"must divide the size {above} of the layer above")
        above = size
    if count is not None and layers[0][1] > count:
        yield TOPOLOGY.invalid(here, layers[0][1], f"must not be greater than the {count} pods of the set")


def _layers(written: str) -> list[tuple[str, int]] | None:
    try:
        value: Any = json.loads(written)
    except (ValueError, RecursionError):
        return None
    if value is None:
        return []
    if not isinstance(value, list):
        return None
    layers = []
    for entry in value:
        if entry is not None and not isinstance(entry, dict):
            return None
        fields = {str(key).lower(): part for key, part in (entry or {}).items() if part is not None}
        topology, size = fields.get("topology", ""), fields.get("size", 0)
        if not isinstance(topology, str) or type(size) is not int or not -(2**31) <= size < 2**31:
            return None
        layers.append((topology, size))
    return layers


def _check_groups(pod_sets: Sequence[PodSet]) -> Iterator[Problem]:
    """Exactly two sets share a group, one of them of a single pod, both with the same topology."""
    groups: dict[str, list[PodSet]] = {}
    for pod_set in pod_sets:
        found = pod_set.annotations
        if GROUP in found and (REQUIRED in found or PREFERRED in found):
            groups.setdefault(str(found[GROUP]), []).append(pod_set)
    for group, members in groups.items():
        at: Path = (*members[0].path, "annotations", GROUP)
        if len(members) != 2:
            yield TOPOLOGY.invalid(at, group, f"a group must have exactly 2 pod sets, not {len(members)}")
            continue
        counts = [member.count for member in members]
        if None not in counts and 1 not in counts:
            yield TOPOLOGY.invalid(
                at, group, f"one of a group's pod sets must have 1 pod, not {counts[0]} and {counts[1]}"
            )
        first, second = (_wanted(member.annotations) for member in members)
        if first != second:
            yield TOPOLOGY.invalid(at, group, "both pod sets of a group must ask for the same topology")


def _wanted(found: Object) -> tuple[str, Any]:
    return (REQUIRED, found[REQUIRED]) if REQUIRED in found else (PREFERRED, found.get(PREFERRED))
