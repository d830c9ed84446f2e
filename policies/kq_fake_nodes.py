"""No flavor of machines matches a node that KWOK simulates.

Why: A pod on such a node is Running at once and never trains. Kueue counts its GPUs as free, then as used.
Fix: taint the node kwok.x-k8s.io/node=fake:NoSchedule, or use KWOK on a cluster of its own.
Source: kubernetes-sigs/kwok v0.8.0 charts/kwok/conf/kwok.yaml, kustomize/stage/pod/fast; docs/rehearsal.md
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.checks import Manifest, Place, Problem, Severity, World, maps_in

SEVERITY = Severity.WARNING
GROUP = "kueue.x-k8s.io"
KWOK = "kwok.x-k8s.io/node"
CLOSED = ("NoSchedule", "NoExecute")


def check(world: World) -> Iterator[Problem]:
    """Look for flavors of which nodes of KWOK are, by labels, taints and tolerations."""
    flavors = [flavor for flavor in world.of("ResourceFlavor", group=GROUP) if not is_rehearsed(flavor)]
    for node in world.of("Node", group=""):
        if node.annotations.get(KWOK) == "fake":
            matched = [flavor.name for flavor in flavors if matches(flavor, node)]
            if matched:
                message = (
                    f"node {node.name!r} has no machine, but flavor {matched[0]!r} matches it; its pods never train"
                )
                yield Problem(Place(node, ("metadata", "annotations", KWOK)), message)


def is_rehearsed(flavor: Manifest) -> bool:
    """Say whether a flavor is for nodes of KWOK: it tolerates their taint by name."""
    return any(entry.get("key") == KWOK for entry in maps_in(flavor.get("spec", "tolerations")))


def matches(flavor: Manifest, node: Manifest) -> bool:
    """Say whether a node has the labels of a flavor, and no taint that keeps pods of the flavor away."""
    wanted = flavor.get("spec", "nodeLabels", default={})
    if not isinstance(wanted, dict) or not wanted.items() <= node.labels.items():
        return False
    known = [*maps_in(flavor.get("spec", "tolerations"))]
    taints = [taint for taint in maps_in(node.get("spec", "taints")) if taint.get("effect") in CLOSED]
    return all(is_tolerated(taint, known) for taint in taints)


def is_tolerated(taint: Mapping[str, Any], tolerations: Iterable[Mapping[str, Any]]) -> bool:
    """Say whether one of the tolerations is of a taint."""
    return any(
        entry.get("effect") in (None, "", taint.get("effect"))
        and entry.get("key") in (None, "", taint.get("key"))
        and (entry.get("operator") == "Exists" or entry.get("value", "") == taint.get("value", ""))
        for entry in tolerations
    )
