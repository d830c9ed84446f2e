"""Pods name levels of the topology of their queue, and come in whole slices.

Why: Kueue finds no domain of a level that no flavor of the queue has, and never admits the job. Unconstrained "false"
 means a level without a name. Slices must be of a level below the one that holds them. Of pods that are no whole
 number of slices Kueue places the whole slices alone: the last pods stay gated for ever.
Fix: write a level of the Topology, and a slice size that divides the number of pods.
Source: kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go HasLevel, levelKeyWithImpliedFallback;
 pkg/podset/tas.go
"""

from collections.abc import Iterator, Sequence

from trainyard.checks import Manifest, Pods, Problem, Queues, World, did_you_mean, whole_number

REQUIRED, PREFERRED, SLICES, FREE = (
    f"kueue.x-k8s.io/podset-{name}-topology" for name in ("required", "preferred", "slice-required", "unconstrained")
)

SIZE = "kueue.x-k8s.io/podset-slice-size"


def check(world: World) -> Iterator[Problem]:
    """Compare the levels that pod sets name with the topologies of their queue's flavors, if all are known."""
    topologies = {one.name: [*levels_of(one)] for one in world.of("Topology", group="kueue.x-k8s.io")}
    for pods, queue, flavors in Queues(world).pod_sets():
        named = {name for flavor in flavors if (name := flavor.text("spec", "topologyName"))}
        if named and named <= topologies.keys():
            yield from wrong_levels(pods, queue.name, [topologies[name] for name in sorted(named)])


def levels_of(topology: Manifest) -> Iterator[str]:
    """Yield the levels of a Topology, the coarsest first."""
    for _, label in topology.at("spec", "levels", "*", "nodeLabel", of=str):
        yield label


def wrong_levels(pods: Pods, queue: str, known: Sequence[Sequence[str]]) -> Iterator[Problem]:
    """Yield the annotations of a pod set for which no topology has a domain."""
    there = sorted({level for levels in known for level in levels})
    for key in (REQUIRED, PREFERRED, SLICES):
        level = pods.annotations.get(key)
        if level is not None and level not in there:
            near = did_you_mean(level, there) or f"there are: {', '.join(there)}"
            message = f"no topology of queue {queue!r} has level {level!r}; {near}"
            yield Problem(pods.place("metadata", "annotations", key), message)
            return
    if pods.annotations.get(FREE, "").lower() in {"false", "f", "0"}:
        message = f"unconstrained is {pods.annotations[FREE]!r}, which means a level without a name; remove it"
        yield Problem(pods.place("metadata", "annotations", FREE), message)
    size = whole_number(pods.annotations.get(SIZE, ""))
    if size and pods.count % size and pods.annotations.get(SLICES):
        message = (
            f"{pods.count} pods are no whole slices of {size}, so {pods.count % size} never start; change the size"
        )
        yield Problem(pods.place("metadata", "annotations", SIZE), message)
    outer, inner = pods.annotations.get(REQUIRED) or pods.annotations.get(PREFERRED), pods.annotations.get(SLICES)
    if outer and inner and all(is_above(inner, outer, levels) for levels in known):
        message = f"slices are of level {inner!r}, which holds {outer!r}; choose a level at or below that"
        yield Problem(pods.place("metadata", "annotations", SLICES), message)


def is_above(one: str, other: str, levels: Sequence[str]) -> bool:
    """Say whether a level is coarser than another, if a topology has both."""
    return one in levels and other in levels and levels.index(one) < levels.index(other)
