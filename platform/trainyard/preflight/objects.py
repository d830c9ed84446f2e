"""What policies find in the objects of runs to be, at the field of the job or the patch that it comes from.

Jobs and their patches are so judged by the rules that anybody's YAML is judged by, before anything is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard import kinds
from trainyard.clusters import platform, team
from trainyard.documents import Document, format_path
from trainyard.documents import Path as Steps
from trainyard.findings import Finding, Location
from trainyard.kinds import Resolved
from trainyard.manifests import Manifest
from trainyard.operators import kueue
from trainyard.parts.objects import Resource
from trainyard.policies import run as policies_run
from trainyard.policies.places import Place
from trainyard.policies.policy import Policy, Problem
from trainyard.policies.world import World
from trainyard.preflight import inventory, networks, origins, tenants
from trainyard.rules import Rule
from trainyard.specs import Cluster
from trainyard.specs.sources import Specs
from trainyard.system.data import schemas_dir
from trainyard.system.unforeseen import UNFORESEEN
from trainyard.tenancy import RULES as TENANCY

if TYPE_CHECKING:
    from trainyard.apiserver import Judge


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


def check(
    specs: Specs, runs: Iterable[Resolved], policies: Sequence[Policy], home: Path | None = None
) -> Iterator[tuple[Resolved, Finding]]:
    """Yield what policies find in the objects of runs, with the run; retired ones and broken clusters have none.

    What the server would refuse of parts that a job hands on as they are is found too, by the API types of `home`, and
    what no run of the team may be.
    """
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
        objects = [Objects(run) for run in here]
        others = list(found(specs, name, objects, around, asked))
        others += refused(cluster, [each for each in objects if hands_on(each.run)], around, home)
        yield from others
        yield from tenants.unsaid(tenants.check(specs, name, objects, in_job), others)


def across_lines(specs: Specs, run: Resolved) -> Iterator[tuple[str, str]]:
    """Yield rule and sentence of each line of its team that a run crosses."""
    allowed = tenants.of_team(specs, run.run.cluster_name, run.run.team_name)
    for _, breach in tenants.found(Objects(run), allowed):
        yield TENANCY[breach.subject].id, breach.message


def found(
    specs: Specs, cluster: str, runs: Sequence[Objects], around: tuple[Manifest, ...], policies: Sequence[Policy]
) -> Iterator[tuple[Resolved, Finding]]:
    """Yield what policies find in the objects of runs of one cluster."""
    whose = {id(each.document): objects for objects in runs for each in objects.manifests}
    declared = specs.clusters[cluster]
    world = World((*around, *(each for objects in runs for each in objects.manifests)), declared, complete=False)
    failed: list[policies_run.Stopped] = []
    for policy, problem in policies_run.problems(world, policies, failed=failed):
        objects = whose.get(id(problem.place.manifest.document))
        if objects is not None:
            said = partial(asked, around=around, declared=declared, policy=policy)
            path = in_job(objects, problem, said)
            fix = problem.fix or policy.rule.fix
            place = objects.run.run.source
            yield objects.run, policy.rule.at(place, path, problem.message, severity=problem.severity, fix=fix)
    for stop in failed:
        known = whose.get(id(stop.manifest.document)) if stop.manifest else None
        for objects in [known] if known else runs[:1]:
            place = objects.run.run.source
            yield objects.run, UNFORESEEN.at(place, (), stop.message) if known else stop.finding()


HANDED = ("labels", "annotations", "containers", "init_containers", "volumes", "patches", "env_from", "mounts")
"""Fields of a job that are Kubernetes' own, and stand in objects as they are written."""


def hands_on(run: Resolved) -> bool:
    """Whether a job has parts that it hands on."""
    return any(getattr(run.run.job, field) for field in HANDED)


def refused(
    cluster: Cluster, runs: Sequence[Objects], around: tuple[Manifest, ...], home: Path | None
) -> Iterator[tuple[Resolved, Finding]]:
    """Yield what the server would refuse in the objects of runs, where it comes from a field of the job or a patch."""
    if not runs:
        return
    from trainyard.apiserver import Judge, Rulebook, aware  # which take long to import
    from trainyard.preflight.served import served

    kinds_, _ = served(cluster, schemas_dir(home), lambda _: Location(""))
    judge = aware(Judge(kinds_, rulebook=Rulebook()), [each.value for each in around])
    for objects in runs:
        said: dict[tuple[str, Steps], Finding] = {}
        for place, finding in errors(judge, objects):
            path = from_job(objects, Problem(place, finding.message), partial(messages, judge))
            if path:
                said.setdefault((finding.message, path), told(objects, finding, path))
        yield from ((objects.run, finding) for finding in said.values())


def told(objects: Objects, finding: Finding, path: Steps) -> Finding:
    """Return what the server says at the job's field: at the key, where that is what is refused."""
    rule = Rule(finding.rule, "", "", finding.remedy or "", finding.source or "", finding.layer)
    label = path[0] in ("labels", "annotations") and f'"{path[-1]}"' in finding.message
    key = label or finding.rule == "schema/unknown-field"
    return replace(rule.at(objects.run.run.source, path, finding.message, key=key), fix=finding.fix)


def errors(judge: Judge, objects: Objects) -> Iterator[tuple[Place, Finding]]:
    """Yield what the server refuses in the objects of a run, and in the pods that controllers make of them."""
    for each in objects.manifests:
        for finding in refusals(judge, each):
            yield Place(each, written(each, finding)), finding


def refusals(judge: Judge, manifest_: Manifest) -> list[Finding]:
    """Return what the server refuses in an object, and in the pods of one that it takes.

    What cannot be told is no error here.
    """
    judgement = judge.judge(manifest_)
    return [each for each in judgement.findings if each.is_error] if judgement.verdict != "unknown" else []


def messages(judge: Judge, objects: Objects) -> set[str]:
    """Return the sentences on what the server refuses in the objects of a run."""
    return {finding.message for _, finding in errors(judge, objects)}


def written(manifest_: Manifest, finding: Finding) -> Steps:
    """Return the place of a finding in its object, as far as there is something."""
    wanted = finding.path or ""
    best: Steps = ()
    for path in paths(manifest_.value):
        spelled = format_path(path)
        if len(path) > len(best) and wanted.startswith(spelled) and wanted[len(spelled) :][:1] in ("", ".", "["):
            best = path
    return best


def paths(value: Any, path: Steps = ()) -> Iterator[Steps]:
    """Yield the path of everything in a value."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from paths(item, (*path, index))


def asked(objects: Objects, *, around: tuple[Manifest, ...], declared: Cluster, policy: Policy) -> set[str]:
    """Return the sentences of what one policy finds in the objects of one run."""
    world = World((*around, *objects.manifests), declared, complete=False)
    return {problem.message for _, problem in policies_run.problems(world, [policy])}


def in_job(objects: Objects, problem: Problem, said: Callable[[Objects], set[str]]) -> Steps:
    """Return the field of the job that a problem comes from, or that its object is made of."""
    made = zip(objects.resources, objects.manifests, strict=True)
    at = next(resource.at for resource, each in made if each.document is problem.place.manifest.document)
    return from_job(objects, problem, said) or at


def from_job(objects: Objects, problem: Problem, said: Callable[[Objects], set[str]]) -> Steps:
    """Return the patch without which a problem is not there, or the field that says it; empty where neither does."""
    for index, patch in enumerate(objects.run.run.job.patches):
        if problem.message not in said(objects.without(index)):
            return ("patches", index, "merge", *origins.in_merge(problem.place, patch.merge))
    return origins.in_fields(problem.place, objects.run.run.job)


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
