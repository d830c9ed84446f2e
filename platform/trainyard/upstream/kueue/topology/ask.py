"""What is asked of a topology: at which level pods stand together, in slices of how many.

Source: kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go levelKey, buildSliceSizeAtLevel,
findTopologyAssignment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.upstream.kueue.model.workloads import SliceConstraint, TopologyRequest


class Unplaced(Exception):  # noqa: N818  # it is an answer, in Kueue's words, not an error
    """Pods have no place, and why."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request in terms of one topology; levels count from the widest."""

    count: int
    leaders: int
    """1 where a group has a leader, which has one pod."""
    level: int
    """The level that the pods share, or the first that is tried."""
    required: bool
    unconstrained: bool
    size: int
    """Pods of a slice; 1 where there are none."""
    slice_level: int
    """The level that the pods of a slice share."""
    inner: Mapping[int, int]
    """By level below that of slices, the number of which pods come in multiples there."""
    layers: tuple[SliceConstraint, ...]
    """All layers of slices where there is more than one."""

    @property
    def slices(self) -> int:
        """How many slices there are."""
        return self.count // self.size


def layers_of(request: TopologyRequest | None) -> tuple[SliceConstraint, ...]:
    """Return the layers of slices, the widest first, in whichever of its two ways the request has them."""
    if request is None:
        return ()
    if request.slices:
        return request.slices
    return (SliceConstraint(request.slice_topology, request.slice_size or 0),) if request.slice_topology else ()


def wanted_level(request: TopologyRequest | None, levels: tuple[str, ...]) -> str | None:
    """Return the label of the level that a request is about, None where it is about none."""
    if request is None:
        return None
    if request.required is not None:
        return request.required
    if request.preferred is not None:
        return request.preferred
    if layers_of(request):
        return levels[0]
    return levels[-1] if request.unconstrained else None


def has_levels(request: TopologyRequest | None, levels: tuple[str, ...]) -> bool:
    """Whether a topology has all levels that a request names."""
    wanted = wanted_level(request, levels)
    return wanted in levels and all(layer.topology in levels for layer in layers_of(request))


def slice_size(request: TopologyRequest | None) -> int:
    """Return the pods of the widest slices; raises Unplaced where their number is missing."""
    layers = layers_of(request)
    if layers and layers[0].size <= 0:
        raise Unplaced("slice topology requested, but slice size not provided")
    return layers[0].size if layers else 1


def resolve(
    request: TopologyRequest | None, levels: tuple[str, ...], *, count: int, leaders: int, implied: bool
) -> Ask:
    """Return the request in terms of a topology's levels; raises Unplaced where it makes no sense there."""
    size, layers = slice_size(request), layers_of(request)
    label = wanted_level(request, levels) or (levels[-1] if implied else None)
    if label is None:
        raise Unplaced("topology level not specified")
    if label not in levels:
        raise Unplaced(f"no requested topology level: {label}")
    slices_at = layers[0].topology if layers else levels[-1]
    if slices_at not in levels:
        raise Unplaced(f"no requested topology level for slices: {slices_at}")
    level, slice_level = levels.index(label), levels.index(slices_at)
    if level > slice_level:
        raise Unplaced(f"podset slice topology {slices_at} is above the podset topology {label}")
    required = request is not None and request.required is not None
    asks_for_level = request is not None and (required or request.preferred is not None)
    inner = inner_sizes(layers, levels, slice_level)
    return Ask(
        count=count,
        leaders=leaders,
        level=level,
        required=required,
        unconstrained=implied
        or (request is not None and request.unconstrained)
        or (bool(layers) and not asks_for_level),
        size=size,
        slice_level=slice_level,
        inner=inner,
        layers=layers if inner else (),
    )


def inner_sizes(layers: tuple[SliceConstraint, ...], levels: tuple[str, ...], slice_level: int) -> dict[int, int]:
    """Return of which number pods come in multiples, by level: that of the layer at the level or next below it."""
    found: dict[int, int] = {}
    above, size = slice_level, layers[0].size if layers else 1
    for layer in layers[1:]:
        if layer.topology not in levels:
            raise Unplaced(f"no requested topology level for additional slice layer: {layer.topology}")
        level = levels.index(layer.topology)
        if level <= above:
            message = f"additional slice layer topology {layer.topology} must be at a lower level than {levels[above]}"
            raise Unplaced(message)
        if size % layer.size:
            message = f"additional slice layer size {layer.size} must evenly divide parent layer size {size}"
            raise Unplaced(message)
        found |= dict.fromkeys(range(above + 1, level + 1), layer.size)
        above, size = level, layer.size
    return found
