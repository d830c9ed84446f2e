"""The levels of a Topology must go from coarse to fine.

Why: Kueue reads each level as a part of the one before. Blocks would be as small as racks, so large runs would wait.
Fix: list the coarsest level first, such as block before rack.
Source: kueue v0.19.2 apis/kueue/v1beta2/topology_types.go, pkg/cache/scheduler/tas_flavor_snapshot.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World, upside_down

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Look at the labels of every Topology; those of a cluster's file are looked at there."""
    for topology in world.of("Topology", group="kueue.x-k8s.io") if world.inventory is None else ():
        labels = list(topology.at("spec", "levels", "*", "nodeLabel", of=str))
        for index, fine, coarse in upside_down([label for _, label in labels]):
            message = f"level {fine!r} stands before {coarse!r}, which holds it; write {coarse!r} first"
            yield Problem(Place(topology, labels[index][0]), message)
