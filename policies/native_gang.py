"""A group of kube-scheduler waits for no more pods and groups than there are, and is not below itself.

Why: The scheduler binds no pod of a group until minCount pods are there. A composite group needs minGroupCount groups.
 Pods whose groups are below themselves, or below more than four composite ones, are never bound.
Fix: set minCount to the number of pods, minGroupCount to the number of groups; remove one parent of a circle.
Source: kubernetes v1.37.2 pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go PreEnqueue;
 pkg/scheduler/backend/cache/cache.go BuildHierarchySnapshotFromPod
"""

from collections import Counter
from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Problem, World, all_workloads

GROUP = "scheduling.k8s.io"
COMPOSITE = "CompositePodGroup"
PARENT = ("spec", "parentCompositePodGroupName")
GANG = ("spec", "schedulingPolicy", "gang")

DEEPEST = 4
"""Composite groups that may be below one another."""

Name = tuple[str, str]
"""Namespace and name of a group."""


def check(world: World) -> Iterator[Problem]:
    """Count the pods and groups among the objects; a group without any of its own is not checked."""
    groups = [*world.of("PodGroup", group=GROUP)]
    composites = {key(one): one for one in world.of(COMPOSITE, group=GROUP)}
    if not groups and not composites:
        return
    yield from too_many(groups, pods_of(world), "minCount", "pod")
    below = Counter(parent for one in (*groups, *composites.values()) if (parent := parent_of(one)) is not None)
    yield from too_many([*composites.values()], below, "minGroupCount", "group")
    for name, one in composites.items():
        over = above(name, composites)
        if name in over:
            yield Problem(Place(one, PARENT), f"group {one.name!r} is below itself; remove one parent of the circle")
        elif len(over) == DEEPEST:
            message = f"group {one.name!r} is below {DEEPEST} others, but kube-scheduler looks at {DEEPEST} levels"
            yield Problem(Place(one, PARENT), f"{message}; remove one")


def key(group: Manifest) -> Name:
    """Return namespace and name of a group."""
    return group.namespace or "default", group.name


def parent_of(group: Manifest) -> Name | None:
    """Return the group that a group is below."""
    parent = group.get(*PARENT)
    return (group.namespace or "default", parent) if isinstance(parent, str) and parent else None


def pods_of(world: World) -> Counter[Name]:
    """Count the pods of each group."""
    found: Counter[Name] = Counter()
    for job in all_workloads(world):
        for pods in job.pod_sets():
            reference = pods.spec.get("schedulingGroup")
            name = reference.get("podGroupName") if isinstance(reference, dict) else None
            if isinstance(name, str):
                found[job.namespace, name] += pods.count
    return found


def too_many(groups: list[Manifest], there: Counter[Name], field: str, noun: str) -> Iterator[Problem]:
    """Yield groups that wait for more than there is."""
    for group in groups:
        wanted, count = group.get(*GANG, field), there[key(group)]
        if count and type(wanted) is int and wanted > count:
            counted = f"{count} {noun}{'' if count == 1 else 's'}"
            message = f"{field} is {wanted}, but group {group.name!r} has {counted}; use {count}"
            yield Problem(Place(group, (*GANG, field)), message)


def above(name: Name, composites: dict[Name, Manifest]) -> list[Name]:
    """Return the groups above a group, as far as they are among the objects and not seen before."""
    found: list[Name] = []
    while name in composites and (parent := parent_of(composites[name])) is not None and parent not in found:
        found.append(parent)
        name = parent
    return found
