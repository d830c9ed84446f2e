"""What runs may not be, at the job's field or patch that asks for it: the statement of `tenancy` over rendered objects.

It looks at what would be written, whatever it comes from: a field, a patch, a container of the job's own, a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.judge.policies.amounts import amount_of
from trainyard.judge.policies.places import Place
from trainyard.judge.policies.policy import Problem
from trainyard.judge.preflight.job.rendered import Objects
from trainyard.render import clusters
from trainyard.render.kinds import Resolved
from trainyard.render.sizing import saving
from trainyard.render.tenancy import RULES, Allowance, Breach, allowance, breaches
from trainyard.specs import Job, Team
from trainyard.specs.sources import Specs

FIELD = ("longestGraceSeconds",)
"""The field of a cluster's file by which runs end in time."""

From = Callable[[Objects, Problem, Callable[[Objects], set[str]]], Path]


def check(specs: Specs, cluster: str, runs: Sequence[Objects], source: From) -> Iterator[tuple[Resolved, Finding]]:
    """Yield the findings on runs of one cluster that their team may not have; `source` finds the field of a problem."""
    allowed = {name: of_team(specs, cluster, name) for name in {run.run.run.team_name for run in runs}}
    for objects in runs:
        here = allowed[objects.run.run.team_name]
        job, said = objects.run.run.job, dict[tuple[str, Path], Finding]()
        for place, breach in find_breaches(objects, here):
            path = source(objects, Problem(place, breach.message), partial(sentences, here))
            path = path or source_field(job, breach.subject) or largest_folder(job, place) or objects.origin(place)
            fix = longest(specs, cluster) + assumed(objects.run) if breach.subject == "grace" else None
            message = objects.in_words(breach.message, place, path)
            finding = RULES[breach.subject].at(objects.run.run.source, path, message, fix=fix)
            said.setdefault((breach.message, path), finding)
        yield from ((objects.run, finding) for finding in said.values())


def source_field(job: Job, subject: str) -> Path:
    """Return the field from which follows what a run may not be, where no value of it stands in the object."""
    tokens = [index for index, mount in enumerate(job.mounts) if mount.token is not None]
    if subject == "account" and tokens:
        return "mounts", tokens[0], "token"
    return ("checkpoint", "size") if subject == "grace" and job.checkpoint is not None else ()


def largest_folder(job: Job, place: Place) -> Path:
    """Return the size limit of a job's largest emptyDir, for what is said of all volumes of its pods."""
    folders = {
        index: amount_of(volume["emptyDir"].get("sizeLimit"))
        for index, volume in enumerate(job.volumes)
        if isinstance(volume.get("emptyDir"), dict)
    }
    sizes = {index: size for index, size in folders.items() if size is not None}
    if place.path[-1:] != ("volumes",) or not sizes:
        return ()
    return ("volumes", max(sizes, key=lambda index: sizes[index]), "emptyDir", "sizeLimit")


def longest(specs: Specs, cluster: str) -> str:
    """Return the fix for a job that takes longer to end than its cluster gives, with the place of that setting."""
    place = specs.sources[f"cluster/{cluster}"].location(FIELD, key=True)
    if "longest_grace_seconds" in specs.clusters[cluster].model_fields_set:
        return f"raise {FIELD[0]} at {place}, or let the job stop sooner"
    return f"set {FIELD[0]} in {place.file}, or let the job stop sooner"


def assumed(run: Resolved) -> str:
    """Return advice to state how fast a checkpoint's storage is, where nobody did and its time is assumed."""
    checkpoint, here = run.run.job.checkpoint, run.run
    if checkpoint is None or saving.save(here, checkpoint, pods=here.job.nodes).stated:
        return ""
    volume = here.team.volumes.get(checkpoint.volume)
    return f"; if it saves faster, state storage.{volume.storage}.throughput" if volume else ""


def of_team(specs: Specs, cluster: str, team: str) -> Allowance:
    """Return the allowance of a team's runs on a cluster; a team without a file has none."""
    known = specs.teams.get(team) or Team(group="nobody")
    own = clusters.of_team(specs, cluster, team)
    return allowance.of(specs.repository, cluster, specs.clusters[cluster], team, known, own)


def find_breaches(objects: Objects, allowed: Allowance) -> Iterator[tuple[Place, Breach]]:
    """Yield the breaches of the allowance in the objects of one run, each with its place."""
    run = objects.run.run
    for manifest in objects.manifests:
        for breach in breaches(manifest.value, allowed, run=run.name):
            yield Place(manifest, breach.path), breach


def sentences(allowed: Allowance, objects: Objects) -> set[str]:
    """Return the messages of all breaches in the objects of one run."""
    return {breach.message for _, breach in find_breaches(objects, allowed)}


def unsaid_findings(
    findings: Iterable[tuple[Resolved, Finding]], before: Iterable[tuple[Resolved, Finding]]
) -> Iterator[tuple[Resolved, Finding]]:
    """Yield findings at whose field, or around or inside it, no error was found before."""
    taken = [(run.run.name, finding.path or "") for run, finding in before if finding.is_error]
    for run, finding in findings:
        at = finding.path or ""
        if not any(name == run.run.name and is_within(at, other) for name, other in taken):
            yield run, finding


def is_within(one: str, other: str) -> bool:
    """Whether one of two fields holds the other, or they are the same; what is about no field holds none."""
    short, long = sorted((one, other), key=len)
    return bool(short) and long.startswith(short) and long[len(short) :][:1] in {"", ".", "["}
