"""Pods with a topology annotation must have a flavor with topologyName.

Why: Kueue does not use other flavors for such pods, so it never admits the job.
Fix: add topologyName to the flavor, or remove the annotation from the pods.
Source: kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/tas_flavorassigner.go
 checkPodSetAndFlavorMatchForTAS
"""

from collections import defaultdict
from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Pods, Problem, Queues, World

ASKS = tuple(f"kueue.x-k8s.io/podset-{how}-topology" for how in ("required", "preferred"))


def check(world: World) -> Iterator[Problem]:
    """Find pods that ask for a topology of which all flavors have none; the finding stands at the first flavor."""
    asking: dict[Manifest, list[Pods]] = defaultdict(list)
    for pods, _, flavors in Queues(world).pod_sets():
        if any(key in pods.annotations for key in ASKS) and not any(has_topology(flavor) for flavor in flavors):
            asking[flavors[0]].append(pods)
    for flavor, sets in asking.items():
        message = f"flavor {flavor.name!r} has no topologyName, so pods {sets[0].name!r} with a topology never start"
        yield Problem(Place(flavor, ("spec",), key=True), f"{message}; add it")


def has_topology(flavor: Manifest) -> bool:
    """Say whether Kueue places pods on nodes of a flavor by topology."""
    return bool(flavor.text("spec", "topologyName"))
