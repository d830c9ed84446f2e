"""Cohorts must not be below themselves.

Why: Kueue does not consider the ClusterQueues of a cohort whose parents lead back to it. It admits none of their
 jobs.
Fix: remove parentName from one of the Cohorts.
Source: kubernetes-sigs/kueue v0.19.2 pkg/cache/hierarchy/cycle.go; pkg/cache/scheduler/snapshot.go
"""

from collections.abc import Iterator, Mapping

from trainyard.checks import Manifest, Place, Problem, World

GROUP = "kueue.x-k8s.io"


def check(world: World) -> Iterator[Problem]:
    """Follow the parents of each Cohort; of a circle the first one is told."""
    cohorts = {cohort.name: cohort for cohort in world.of("Cohort", group=GROUP)}
    told: set[str] = set()
    for name, cohort in sorted(cohorts.items()):
        way = [name]
        while (above := parent(cohorts, way[-1])) and above not in way:
            way.append(above)
        if above == name and name not in told:
            told.update(way)
            circle = " below ".join(map(repr, [*way, name]))
            message = f"Cohort {circle} is a circle, so their queues admit nothing; remove one parentName"
            field = "parentName" if cohort.text("spec", "parentName") else "parent"
            yield Problem(Place(cohort, ("spec", field)), message)


def parent(cohorts: Mapping[str, Manifest], name: str) -> str:
    """Return the name of the Cohort above one, empty where there is none; v1beta1 calls the field `parent`."""
    cohort = cohorts.get(name)
    return "" if cohort is None else cohort.text("spec", "parentName") or cohort.text("spec", "parent")
