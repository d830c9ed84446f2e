"""The place of pods whose node failed: the others stay, and those of the node go where the request allows it.

Source: kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go findReplacementAssignment, requiredReplacementDomain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from trainyard.upstream.kueue.model.placements import Domain, Placement, PlacementRequest
from trainyard.upstream.kueue.topology.ask import Unplaced, layers_of, slice_size, wanted_level
from trainyard.upstream.kueue.topology.tree import Tree


@dataclass(frozen=True, slots=True)
class Loss:
    """A place that a pod set has, and the node that it lost."""

    placement: Placement
    node: str


Place = Callable[[PlacementRequest, str], Placement]


def repair_placement(tree: Tree, request: PlacementRequest, loss: Loss, place: Place) -> tuple[Placement, Placement]:
    """Return the whole place after a node is replaced, and the place of the pods that move.

    `place` looks for one, within a domain if that is not empty. Raises Unplaced where there is none.
    """
    kept = tuple(domain for domain in loss.placement.domains if domain.values[-1] != loss.node)
    count = sum(domain.count for domain in loss.placement.domains if domain.values[-1] == loss.node)
    for domain in kept:
        if domain.values not in tree.place:
            message = "Cannot replace the node, because the existing topologyAssignment is invalid, as it contains"
            raise Unplaced(f"{message} the stale domain {domain.values[0]}")
    request = replace(request, count=count)
    within = domain_to_stay_in(tree, request, kept)
    moved = place(in_partial_slices(request) if within else request, within)
    if not moved.domains:
        raise Unplaced(f"cannot find replacement assignment for unhealthy node: {loss.node}")
    return merge_places(tree, moved, kept), moved


def domain_to_stay_in(tree: Tree, request: PlacementRequest, kept: tuple[Domain, ...]) -> str:
    """Return the domain that moved pods have to be in, empty where any will do: that of their slice, or of all pods."""
    asked = request.pod_set.topology
    label = wanted_level(asked, tree.levels) or (tree.levels[-1] if request.implied else None)
    if label not in tree.levels or not kept:
        return ""
    layers = layers_of(asked)
    if layers and request.count % slice_size(asked):
        broken = next((layer for layer in reversed(layers) if request.count % layer.size), layers[0])
        return incomplete(tree, request.count, kept, broken.size, broken.topology)
    if asked is None or asked.required is None:
        return ""
    return tree.identifier(tree.above(tree.place[kept[0].values], tree.levels.index(label)))


def incomplete(tree: Tree, missing: int, kept: tuple[Domain, ...], size: int, label: str) -> str:
    """Return the domain in which the missing pods complete slices; the first of several, of which Kueue takes any."""
    if label not in tree.levels:
        return ""
    level = tree.levels.index(label)
    used = Counter[int]()
    for domain in kept:
        used[tree.above(tree.place[domain.values], level)] += domain.count
    return next((tree.identifier(domain) for domain in sorted(used) if (used[domain] + missing) % size == 0), "")


def in_partial_slices(request: PlacementRequest) -> PlacementRequest:
    """Return the request with the narrowest slices that the pods fill, or none; its own where the pods fill those."""
    asked = request.pod_set.topology
    layers = layers_of(asked)
    if asked is None or not layers or request.count % layers[0].size == 0:
        return request
    whole = next((layer for layer in reversed(layers) if request.count % layer.size == 0), None)
    topology = replace(
        asked,
        slices=(),
        slice_topology=whole.topology if whole else None,
        slice_size=whole.size if whole else 1,
    )
    return replace(request, pod_set=replace(request.pod_set, topology=topology))


def merge_places(tree: Tree, moved: Placement, kept: tuple[Domain, ...]) -> Placement:
    """Return both places as one, in the order of their values."""
    total = Counter[tuple[str, ...]]()
    for domain in (*moved.domains, *kept):
        total[domain.values] += domain.count
    order = sorted(total, key=lambda values: ",".join(tree.values[tree.place[values]]))
    return Placement(moved.levels, tuple(Domain(values, total[values]) for values in order))
