"""Whether jobs that come after others can: somebody has to keep the order, and every job named has to be a step too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.findings import Finding, did_you_mean
from trainyard.kinds import Kind, kinds
from trainyard.preflight.jobs import run_of
from trainyard.rules import Rule
from trainyard.specs import Cluster
from trainyard.specs.order import JobName, after_of, circle
from trainyard.specs.sources import JobFile, Specs

ORDER = Rule(
    id="run/after",
    title="A job that comes after others is a step of a pipeline, and its cluster has somebody who runs pipelines.",
    why="Argo CD starts all runs of a tree at once, and Kueue admits them in any order: nobody would wait",
    fix="say pipelines in the cluster's file and export the jobs by `trainyard pipeline`, or remove after",
    source="docs/pipelines.md; argo-cd v3.5.1 docs/user-guide/sync-waves.md; kueue v0.19.2 pkg/cache/queue",
    layer="run",
)
STEP = Rule(
    id="run/after-step",
    title="What a job comes after exists, is a step of the same cluster's pipelines, and does not come after it.",
    why="a step that is not in the pipeline never ends, and two that wait for each other never begin",
    fix="name jobs of the same cluster that say after themselves, if only after: []",
    source="docs/pipelines.md",
    layer="run",
)
ENDLESS = Rule(
    id="run/after-end",
    title="A step of a pipeline is of a kind that ends.",
    why="the step waits for the end of its run, and whatever comes after it never begins",
    fix="name a kind that ends, such as RayJob or JobSet, or remove after",
    source="docs/pipelines.md",
    layer="run",
)


def check(specs: Specs, names: Iterable[JobName], *, broken: frozenset[JobName]) -> Iterator[Finding]:
    """Yield what is wrong with the order of the steps among the jobs that were read.

    `names` are those of all job files there are, `broken` those that could not be read.
    """
    steps = {(file.team, file.name): file for file in specs.jobs if file.job.step and not file.job.retired}
    before = {name: after_of(file.team, file.job) for name, file in steps.items()}
    known = {*names, *steps}
    for name, file in steps.items():
        cluster = specs.clusters.get(file.job.cluster)
        if cluster is not None and cluster.pipelines is None:
            message = (
                f"nobody keeps the order of jobs on cluster {file.job.cluster!r}; say pipelines there, or remove after"
            )
            yield ORDER.at(file.source, ("after",), message)
            continue
        if cluster is not None and cluster.pipelines and cluster.pipelines.namespace_of(file.team) is None:
            message = f"team {file.team!r} has no pipelines on cluster {file.job.cluster!r}"
            yield ORDER.at(file.source, ("after",), f"{message}; add it to namespaces of pipelines, or remove after")
            continue
        kind = kind_of(specs, file)
        if kind is not None and kind.carrier.ending is None:
            message = (
                f"kind {kind.name!r} has no end, so that no step after it would begin; choose another, or remove after"
            )
            yield ENDLESS.at(file.source, ("kind",) if file.job.kind else ("after",), message)
        for index, other in enumerate(before[name]):
            problem = None if other in broken else wrong(file, other, steps, known) or foreign(file, other, cluster)
            if problem is not None:
                yield STEP.at(file.source, place(file, other, index), problem)
        if circle(name, before):
            yield STEP.at(file.source, ("after",), f"{'/'.join(name)} comes after itself; remove a job from after")


def kind_of(specs: Specs, file: JobFile) -> Kind | None:
    """Return the kind of a job; None where it is unknown."""
    run = run_of(specs, file)
    return kinds().get(run.kind) if run is not None else None


def place(file: JobFile, other: JobName, index: int) -> tuple[str | int, ...]:
    """Return the field that names another job."""
    spelled = [(each.rpartition("/")[0] or file.team, each.rpartition("/")[2]) for each in file.job.after]
    return ("after", spelled.index(other) if other in spelled else index)


def foreign(file: JobFile, other: JobName, cluster: Cluster | None) -> str | None:
    """Return what is wrong with a job of another team, where each team's pipelines have an account of their own."""
    if other[0] == file.team or cluster is None or cluster.pipelines is None or cluster.pipelines.namespace:
        return None
    return f"{'/'.join(other)} is another team's, whose runs pipelines of {file.team!r} may not start; remove it"


def wrong(file: JobFile, other: JobName, steps: dict[JobName, JobFile], known: set[JobName]) -> str | None:
    """Return what is wrong with a job that another comes after; None where nothing is."""
    name = "/".join(other)
    step = steps.get(other)
    if step is None and other in known:
        return f"{name} is no step of a pipeline, since Argo CD starts it; write after: [] into it"
    if step is None:
        return f"job {name!r} does not exist; {did_you_mean(name, ['/'.join(each) for each in known])}"
    if step.job.cluster != file.job.cluster:
        return (
            f"{name} runs on cluster {step.job.cluster!r}, but a pipeline is of one; name jobs of {file.job.cluster!r}"
        )
    return None
