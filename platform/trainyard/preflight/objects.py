"""What policies find in the objects of runs to be, at the field of the job or the patch that it comes from.

Jobs and their patches are so judged by the rules that anybody's YAML is judged by, before anything is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from trainyard import kinds
from trainyard.clusters import platform, team
from trainyard.documents import Document, Path
from trainyard.findings import Finding
from trainyard.kinds import Resolved
from trainyard.manifests import Manifest
from trainyard.operators import kueue
from trainyard.parts.objects import Resource
from trainyard.policies import run as policies_run
from trainyard.policies.policy import Policy, Problem
from trainyard.policies.world import World
from trainyard.preflight import inventory, networks, origins
from trainyard.specs import Cluster
from trainyard.specs.sources import Specs


@dataclass(frozen=True)
class Objects:
    """The objects of one run, as they would be rendered."""

    run: Resolved

    @cached_property
    def resources(self) -> tuple[Resource, ...]:
        """What the kind makes of the run."""
        return tuple(kinds.build(self.run))

    @cached_property
    def manifests(self) -> tuple[Manifest, ...]:
        """The same as anybody's objects; where they are written is not known yet."""
        return tuple(manifest(each) for each in self.resources)

    def without(self, patch: int) -> Objects:
        """Return what the run would be without one of its patches."""
        job = self.run.run.job
        left = tuple(each for index, each in enumerate(job.patches) if index != patch)
        return Objects(replace(self.run, run=replace(self.run.run, job=job.model_copy(update={"patches": left}))))


def check(specs: Specs, runs: Iterable[Resolved], policies: Sequence[Policy]) -> Iterator[tuple[Resolved, Finding]]:
    """Yield what policies find in the objects of runs, with the run; retired ones and broken clusters have none."""
    off = specs.repository.policies
    asked = [each for each in policies if each.check and each.id not in off]
    by_cluster: dict[str, list[Resolved]] = defaultdict(list)
    for run in runs:
        if not run.run.job.retired:
            by_cluster[run.run.cluster_name].append(run)
    for name, here in by_cluster.items():
        cluster, source = specs.clusters[name], specs.sources[f"cluster/{name}"]
        wrong = inventory.check(cluster, source, set(specs.teams))
        if any(each.is_error for each in wrong) or any(each.is_error for each in networks.check(cluster, source)):
            continue  # it cannot be rendered
        around = surroundings(specs, name, {run.run.team_name for run in here})
        yield from found(specs, name, [Objects(run) for run in here], around, asked)


def found(
    specs: Specs, cluster: str, runs: Sequence[Objects], around: tuple[Manifest, ...], policies: Sequence[Policy]
) -> Iterator[tuple[Resolved, Finding]]:
    """Yield what policies find in the objects of runs of one cluster."""
    whose = {id(each.document): objects for objects in runs for each in objects.manifests}
    declared = specs.clusters[cluster]
    world = World((*around, *(each for objects in runs for each in objects.manifests)), declared, complete=False)
    for policy, problem in policies_run.problems(world, policies):
        objects = whose.get(id(problem.place.manifest.document))
        if objects is not None:
            said = partial(asked, around=around, declared=declared, policy=policy)
            path = in_job(objects, problem, said)
            fix = problem.fix or policy.rule.fix
            place = objects.run.run.source
            yield objects.run, policy.rule.at(place, path, problem.message, severity=problem.severity, fix=fix)


def asked(objects: Objects, *, around: tuple[Manifest, ...], declared: Cluster, policy: Policy) -> set[str]:
    """Return the sentences of what one policy finds in the objects of one run."""
    world = World((*around, *objects.manifests), declared, complete=False)
    return {problem.message for _, problem in policies_run.problems(world, [policy])}


def in_job(objects: Objects, problem: Problem, said: Callable[[Objects], set[str]]) -> Path:
    """Return the field of the job that a problem comes from: the patch without which it is not there, or a field."""
    for index, patch in enumerate(objects.run.run.job.patches):
        if problem.message not in said(objects.without(index)):
            return ("patches", index, "merge", *origins.in_merge(problem.place, patch.merge))
    made = zip(objects.resources, objects.manifests, strict=True)
    at = next(resource.at for resource, each in made if each.document is problem.place.manifest.document)
    return origins.in_fields(problem.place, objects.run.run.job) or at


def surroundings(specs: Specs, cluster: str, teams: Iterable[str]) -> tuple[Manifest, ...]:
    """Return what else the cluster has for runs of these teams: queues with their Kueue, volumes, networks."""
    found = list(platform.resources(specs.clusters[cluster]))
    for name in sorted(teams):
        if name in specs.teams:
            found += team.resources(cluster, specs.clusters[cluster], name, specs.teams[name])
    config = kueue.configuration(specs.clusters[cluster])
    return (*map(manifest, found), *([Manifest(Document("", 0, config), config)] if config else []))


def manifest(resource: Resource) -> Manifest:
    """Return an object to be as one that was read, from nowhere."""
    value = resource.value()
    return Manifest(Document("", 0, value), value)
