"""Whether jobs that come after others can: somebody has to keep the order, and every job named has to be a step too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.rules import Rule
from trainyard.base.system import reads
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.render.kinds import Kind, kinds
from trainyard.specs import Cluster
from trainyard.specs.load import Loaded
from trainyard.specs.order import JobName, after_of, circle
from trainyard.specs.reading.python_jobs import may_make
from trainyard.specs.sources import JobFile, Specs

ORDER = Rule(
    id="run/after",
    title="A job with after belongs to a pipeline, and its cluster runs pipelines.",
    why="Argo CD starts all runs at once and Kueue admits them in any order, so no job would wait",
    fix="set pipelines in the cluster's file and export the jobs by `trainyard pipeline`, or remove after",
    source="docs/pipelines.md; argo-cd v3.5.1 docs/user-guide/sync-waves.md; kueue v0.19.2 pkg/cache/queue",
    layer="run",
)
STEP = Rule(
    id="run/after-step",
    title="Every job in after exists, is a step of a pipeline on the same cluster, and forms no cycle.",
    why="a step outside the pipeline never ends, and two steps that wait for each other never start",
    fix="name jobs of the same cluster that have after themselves, if only after: []",
    source="docs/pipelines.md",
    layer="run",
)
ENDLESS = Rule(
    id="run/after-end",
    title="A pipeline step is of a kind that completes.",
    why="the pipeline waits for the end of the run, so later steps never start",
    fix="use a kind that completes, such as RayJob or JobSet, or remove after",
    source="docs/pipelines.md",
    layer="run",
)


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield the problems with the order of the steps among the jobs that were read."""
    lost = frozenset((job.team, job.name) for job in loaded.rest) | idle(loaded)
    return check_steps(loaded.specs, [(place.folder, place.name) for place in loaded.places], broken=lost)


def idle(loaded: Loaded) -> frozenset[JobName]:
    """Return the jobs that others come after and that programs may make which were not run."""
    named = (job for file in loaded.specs.jobs for job in after_of(file.team, file.job)) if loaded.idle else ()
    return frozenset(job for job in named if any(may_make(place, *job) for place in loaded.idle))


def check_steps(specs: Specs, names: Iterable[JobName], *, broken: frozenset[JobName]) -> Iterator[Finding]:
    """Yield the problems with the order of the steps among the jobs that were read.

    `names` are those of all job files there are, `broken` those that could not be read.
    """
    steps = {(file.team, file.name): file for file in specs.jobs if file.job.step and not file.job.retired}
    before = {name: after_of(file.team, file.job) for name, file in steps.items()}
    known = {*names, *steps}
    for name, file in steps.items():
        with reads.about(file.source.file):
            reads.forget()  # what is said of it follows from the files of other jobs
            cluster, kind = specs.clusters.get(file.job.cluster), kind_of(specs, file)
        if cluster is not None and cluster.pipelines is None:
            message = (
                f"cluster {file.job.cluster!r} has no pipelines, so field 'after' has no effect; set pipelines "
                "there, or "
                "remove after"
            )
            yield ORDER.at(file.source, ("after",), message)
            continue
        pipelines = cluster.pipelines if cluster is not None else None
        if cluster is not None and pipelines and pipelines.namespace_of(file.team, cluster.namespace_of) is None:
            message = f"team {file.team!r} has no pipelines on cluster {file.job.cluster!r}"
            yield ORDER.at(file.source, ("after",), f"{message}; add it to pipelines.namespaces, or remove after")
            continue
        if kind is not None and kind.carrier.ending is None:
            message = (
                f"kind {kind.name!r} never completes, so later steps would not start; use another kind, or remove after"
            )
            yield ENDLESS.at(file.source, ("kind",) if file.job.kind else ("after",), message)
        for index, other in enumerate(before[name]):
            problem = (
                None if other in broken else order_problem(file, other, steps, known) or foreign(file, other, cluster)
            )
            if problem is not None:
                yield STEP.at(file.source, place(file, other, index), problem)
        if circle(name, before):
            yield STEP.at(file.source, ("after",), f"job {'/'.join(name)} waits for itself; remove a job from after")


def kind_of(specs: Specs, file: JobFile) -> Kind | None:
    """Return the kind of a job; None where it is unknown."""
    run = run_of(specs, file)
    return kinds().get(run.kind) if run is not None else None


def place(file: JobFile, other: JobName, index: int) -> tuple[str | int, ...]:
    """Return the field that names another job."""
    spelled = [(name.rpartition("/")[0] or file.team, name.rpartition("/")[2]) for name in file.job.after]
    return ("after", spelled.index(other) if other in spelled else index)


def foreign(file: JobFile, other: JobName, cluster: Cluster | None) -> str | None:
    """Return the problem with a job of another team, where each team's pipelines have an account of their own."""
    if other[0] == file.team or cluster is None or cluster.pipelines is None or cluster.pipelines.namespace:
        return None
    return f"{'/'.join(other)} belongs to another team, whose jobs pipelines of {file.team!r} may not start; remove it"


def order_problem(file: JobFile, other: JobName, steps: dict[JobName, JobFile], known: set[JobName]) -> str | None:
    """Return the problem with a job that another comes after; None where nothing is."""
    name = "/".join(other)
    step = steps.get(other)
    if step is None and other in known:
        return f"Argo CD starts {name}, so it is no step of a pipeline; add after: [] to job {name}"
    if step is None:
        return f"job {name!r} does not exist; {did_you_mean(name, ['/'.join(job) for job in known])}"
    if step.job.cluster != file.job.cluster:
        return (
            f"{name} runs on cluster {step.job.cluster!r}, but a pipeline has one cluster; use jobs on "
            f"{file.job.cluster!r}"
        )
    return None
