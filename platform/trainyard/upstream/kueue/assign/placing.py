"""What an assignment asks of topologies, and whether a flavor suits pods that ask for one.

Restated from kueue v0.19.2 pkg/scheduler/flavorassigner/tas_flavorassigner.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trainyard.upstream.kueue.assign.assignment import Assignment, SetAssignment
from trainyard.upstream.kueue.assign.matching import tolerations
from trainyard.upstream.kueue.assign.pending import Pending, WantedSet
from trainyard.upstream.kueue.model.flavors import ResourceFlavor
from trainyard.upstream.kueue.model.placements import Placement, PlacementRequest
from trainyard.upstream.kueue.model.queues import ResourceGroup
from trainyard.upstream.kueue.model.workloads import PodSet
from trainyard.upstream.kueue.quota.state import QueueState

NOTHING_KNOWN = "workload requires Topology, but there is no TAS cache information"
NO_TOPOLOGY = "no TAS flavor assigned"
SEVERAL = "more than one TAS flavor assigned: "
WAITS, READY = "Pending", "Ready"

PlacementRequests = dict[str, list[PlacementRequest]]


def requests_topology(pod_set: PodSet, queue: QueueState) -> bool:
    """Say whether pods get a place in a topology: because they ask, or because the queue has nothing else."""
    return pod_set.explicit or queue.topologies_only


def unsuited_reason(
    pod_set: PodSet, wanted: WantedSet, flavor: ResourceFlavor, queue: QueueState, group: ResourceGroup | None
) -> str | None:
    """Return why a flavor with or without topology does not suit the pods.

    Of a `group` that has nothing that the pods request, a flavor without topology suits too; without one, none does.
    """
    name = f'Flavor "{flavor.name}"'
    if not requests_topology(pod_set, queue):
        return f"{name} supports only TopologyAwareScheduling" if flavor.topology is not None else None
    if not pod_set.explicit:
        return None
    if flavor.topology is None:
        overlap = group is None or any(resource in group.covered for resource in wanted.pod)
        return f"{name} does not support TopologyAwareScheduling" if overlap else None
    places = queue.places.get(flavor.name)
    if places is None:
        return f"{name} information missing in TAS cache"
    assert pod_set.topology is not None
    return None if places.has_levels(pod_set.topology) else f"{name} does not contain the requested level"


def placements_wanted(assignment: Assignment, pending: Pending, queue: QueueState) -> PlacementRequests:
    """Return the placements still to make, by flavor; notes errors and delays in the assignment."""
    found: PlacementRequests = {}
    for pod_set, wanted in zip(pending.workload.pod_sets, pending.sets, strict=True):
        if not requests_topology(pod_set, queue):
            continue
        assigned = assignment.of(pod_set.name)
        if assigned.error is not None or assigned.count == 0:
            continue
        if assigned.placement is not None and not pending.lost & {
            domain.values[-1] for domain in assigned.placement.domains
        }:
            continue
        flavor, error = _flavor(assigned, queue, one=assignment.one_flavor)
        if flavor is None:
            assignment.fail(pod_set.name, error)
        elif queue.multikueue or (not pending.reserved and flavor in queue.provisioned):
            assigned.delayed = WAITS
        else:
            implied, count = not pod_set.explicit, assigned.count
            request = PlacementRequest(pod_set, wanted.spec, wanted.pod, count, flavor, implied, pod_set.group)
            updates = [update for update in pending.updates if update.get("name") == pod_set.name]
            if updates:
                selectors = tuple(update["nodeSelector"] for update in updates if update.get("nodeSelector"))
                tolerated = tuple(one for update in updates for one in tolerations(update))
                request = replace(request, selectors=selectors, tolerations=tolerated)
            found.setdefault(flavor, []).append(request)
    return found


def _flavor(assigned: SetAssignment, queue: QueueState, *, one: bool) -> tuple[str | None, str]:
    if not queue.places:
        return None, NOTHING_KNOWN
    every = {choice.flavor for choice in assigned.flavors.values()}
    if one and len(every) > 1:
        return None, SEVERAL + ", ".join(sorted(every))
    flavors = sorted(every & queue.places.keys())
    if len(flavors) == 1:
        return flavors[0], ""
    return None, SEVERAL + ", ".join(flavors) if flavors else NO_TOPOLOGY


def take(assignment: Assignment, found: Mapping[str, tuple[str, object]]) -> None:
    """Note the places that were found."""
    for name, (_, answer) in found.items():
        assigned = assignment.of(name)
        assigned.placement = answer if isinstance(answer, Placement) else None
        if assigned.placement is not None and assigned.delayed is not None:
            assigned.delayed = READY
