"""What policies find in the objects of runs to be, at the field of the job or the patch that it comes from.

Jobs and their patches are so judged by the rules that anybody's YAML is judged by, before anything is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.base.documents import Path as Steps
from trainyard.base.documents import format_path
from trainyard.base.findings import Finding, Location, without_indexes
from trainyard.base.manifests import Manifest, unplaced
from trainyard.base.rules import Rule
from trainyard.base.system import progress, reads
from trainyard.base.system.data import schemas_dir
from trainyard.base.system.unforeseen import UNFORESEEN
from trainyard.judge.policies import kept_rules
from trainyard.judge.policies import run as policies_run
from trainyard.judge.policies.places import Place
from trainyard.judge.policies.policy import Policy, Problem
from trainyard.judge.policies.world import World
from trainyard.judge.preflight.cluster import inventory, networks, shares
from trainyard.judge.preflight.job import origins, tenants
from trainyard.judge.preflight.job.rendered import Objects, manifest
from trainyard.render import clusters
from trainyard.render.clusters import platform, team
from trainyard.render.kinds import Resolved
from trainyard.render.operators import kueue
from trainyard.render.tenancy import RULES as TENANCY
from trainyard.specs import Cluster
from trainyard.specs.releases.gates import cluster_gates
from trainyard.specs.sources import Source, Specs

if TYPE_CHECKING:
    from trainyard.upstream.apiserver import Judge


def check(
    specs: Specs, runs: Iterable[Resolved], policies: Sequence[Policy], home: Path | None = None
) -> Iterator[tuple[Resolved, Finding]]:
    """Yield the findings of policies in objects of runs, with the run; retired runs and broken clusters have none.

    What the server would refuse of parts that a job hands on as they are is found too, by the API types of `home`, and
    what no run of the team may be.
    """
    off = specs.repository.policies
    asked = [policy for policy in policies if policy.check and policy.id not in off]
    by_place: dict[tuple[str, str], list[Resolved]] = defaultdict(list)
    for run in runs:
        if not run.run.job.retired:
            by_place[run.run.cluster_name, run.run.team_name].append(run)
    for (cluster, owner), here in progress.each([*by_place.items()], "checking objects", "teams on clusters"):
        with reads.about(*{run.run.source.file for run in here}):
            said = of_team(specs, cluster, owner, here, asked, home)
        yield from said


def of_team(
    specs: Specs, name: str, owner: str, runs: Sequence[Resolved], policies: Sequence[Policy], home: Path | None
) -> list[tuple[Resolved, Finding]]:
    """Return the findings in the objects of a team's runs on a cluster; none where it cannot be rendered.

    Runs of other teams, and what is made for these, are not looked at: another job would be judged beside others.
    """
    cluster, source = specs.clusters[name], specs.sources[f"cluster/{name}"]
    if any(item.is_error for item in unrenderable(cluster, source, specs.teams)):
        return []
    around = surroundings(specs, name, [owner])
    objects = [Objects(run) for run in runs]
    others = list(policy_findings(specs, name, objects, around, policies))
    others += server_refusals(cluster, [item for item in objects if hands_on(item.run)], around, home)
    return [*others, *tenants.unsaid_findings(tenants.check(specs, name, objects, from_job), others)]


def unrenderable(cluster: Cluster, source: Source, teams: Collection[str]) -> Iterator[Finding]:
    """Yield the problems with a cluster of which nothing can be rendered while it stands."""
    yield from inventory.check_shapes(cluster, source)
    yield from inventory.check(cluster, source)
    yield from shares.check(cluster, source, teams)
    yield from networks.check(cluster, source)


def across_lines(specs: Specs, run: Resolved) -> Iterator[tuple[str, str]]:
    """Yield rule and sentence of each line of its team that a run crosses."""
    allowed = tenants.of_team(specs, run.run.cluster_name, run.run.team_name)
    for _, breach in tenants.find_breaches(Objects(run), allowed):
        yield TENANCY[breach.subject].id, breach.message


def policy_findings(
    specs: Specs, cluster: str, runs: Sequence[Objects], around: tuple[Manifest, ...], policies: Sequence[Policy]
) -> Iterator[tuple[Resolved, Finding]]:
    """Yield the findings of policies in the objects of runs of one cluster."""
    whose = {id(one_manifest.document): objects for objects in runs for one_manifest in objects.manifests}
    declared = specs.clusters[cluster]
    world = World(
        (*around, *(one_manifest for objects in runs for one_manifest in objects.manifests)), declared, complete=False
    )
    failed: list[policies_run.Stopped] = []
    for policy, problem in policies_run.problems(world, policies, failed=failed):
        objects = whose.get(id(problem.place.manifest.document))
        if objects is not None:
            said = partial(policy_messages, around=around, declared=declared, policy=policy)
            path = in_job(objects, problem, said)
            fix = problem.fix or policy.rule.fix
            place = objects.run.run.source
            message = objects.in_words(problem.message, problem.place, path)
            yield objects.run, policy.rule.at(place, path, message, severity=problem.severity, fix=fix)
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


def server_refusals(
    cluster: Cluster, runs: Sequence[Objects], around: tuple[Manifest, ...], home: Path | None
) -> Iterator[tuple[Resolved, Finding]]:
    """Yield the server's refusals of the objects of runs that come from a field of the job or a patch."""
    if not runs:
        return
    from trainyard.judge.preflight.cluster.served import served_catalog
    from trainyard.upstream.apiserver import Around, Judge, aware  # which take long to import

    kinds_, _ = served_catalog(cluster, schemas_dir(home), lambda _: Location(""))
    known = Around(gates=cluster_gates(cluster), scope=kueue.scope(cluster))
    rulebook = kept_rules.open_for(home or Path())
    judge = aware(Judge(kinds_, around=known, rulebook=rulebook), [one_manifest.value for one_manifest in around])
    for objects in runs:
        said: dict[tuple[str, Steps], Finding] = {}
        for place, finding in errors(judge, objects):
            path = from_job(objects, Problem(place, finding.message), partial(messages, judge))
            if path:
                said.setdefault((without_indexes(finding.message), path), locate_finding(objects, finding, path))
        yield from ((objects.run, finding) for finding in said.values())
    rulebook.keep()


def locate_finding(objects: Objects, finding: Finding, path: Steps) -> Finding:
    """Return the server's finding at the job's field: at the key, where the key is refused."""
    rule = Rule(finding.rule, "", "", finding.remedy or "", finding.source or "", finding.layer)
    label = path[0] in ("labels", "annotations") and finding.message.startswith(f'key "{path[-1]}"')
    key = label or finding.rule == "schema/unknown-field"
    return replace(rule.at(objects.run.run.source, path, finding.message, key=key), fix=finding.fix)


def errors(judge: Judge, objects: Objects) -> Iterator[tuple[Place, Finding]]:
    """Yield the server's refusals of the objects of a run, and of the pods that controllers make of them."""
    for one_manifest in objects.manifests:
        for finding in refusals(judge, one_manifest):
            yield Place(one_manifest, finding_place(one_manifest, finding)), finding


def refusals(judge: Judge, manifest_: Manifest) -> list[Finding]:
    """Return the server's refusals of an object, and of the pods of one that it takes.

    What cannot be told is no error here.
    """
    judgement = judge.judge(manifest_)
    return [finding for finding in judgement.findings if finding.is_error] if judgement.verdict != "unknown" else []


def messages(judge: Judge, objects: Objects) -> set[str]:
    """Return the sentences on what the server refuses in the objects of a run."""
    return {without_indexes(finding.message) for _, finding in errors(judge, objects)}


def finding_place(manifest_: Manifest, finding: Finding) -> Steps:
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


def policy_messages(objects: Objects, *, around: tuple[Manifest, ...], declared: Cluster, policy: Policy) -> set[str]:
    """Return the sentences of what one policy finds in the objects of one run."""
    world = World((*around, *objects.manifests), declared, complete=False)
    return {without_indexes(problem.message) for _, problem in policies_run.problems(world, [policy])}


def in_job(objects: Objects, problem: Problem, said: Callable[[Objects], set[str]]) -> Steps:
    """Return the field of the job that a problem comes from, or that its object is made of."""
    return from_job(objects, problem, said) or objects.origin(problem.place)


def from_job(objects: Objects, problem: Problem, said: Callable[[Objects], set[str]]) -> Steps:
    """Return the patch without which a problem is not there, or the field that says it; empty where neither does."""
    for index, patch in enumerate(objects.run.run.job.patches):
        if without_indexes(problem.message) not in said(objects.without(index)):
            return ("patches", index, "merge", *origins.in_merge(problem.place, patch.merge))
    return origins.in_fields(problem.place, objects.run.run.job)


NAMED_BY_PODS = frozenset({"PersistentVolumeClaim", "ConfigMap", "Secret"})
"""Kinds of the repository's own objects that pods name."""


def surroundings(specs: Specs, cluster: str, teams: Iterable[str]) -> tuple[Manifest, ...]:
    """Return the other objects of the cluster for runs of these teams: queues with their Kueue, volumes, networks.

    Of the repository's own objects those are among them that pods name: claims, ConfigMaps and Secrets.
    """
    found = list(platform.resources(specs.clusters[cluster]))
    added: list[Manifest] = []
    for name in sorted(teams):
        if name in specs.teams:
            found += team.resources(cluster, specs.clusters[cluster], name, specs.teams[name])
            added += map(unplaced, clusters.of_team(specs, cluster, name))
    config = kueue.configuration(specs.clusters[cluster])
    near = (one_manifest for one_manifest in added if one_manifest.kind in NAMED_BY_PODS)
    return (*map(manifest, found), *near, *([unplaced(config)] if config else []))
