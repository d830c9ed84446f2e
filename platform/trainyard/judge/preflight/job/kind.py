"""Whether kind and launcher go together on the cluster, and can do what the job asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import NAMED, RESOLVED, RUN, OneJob, Planned
from trainyard.render.kinds import PREFERRED, Kind, Resolved, admitted_kinds, available, kinds
from trainyard.render.kinds.objects import from_fields
from trainyard.render.launchers import NEEDS, launchers
from trainyard.render.launchers.base import ELASTIC, ROLES, VARIABLES, bounds
from trainyard.render.launchers.own_roles import named_variables
from trainyard.render.sizing import WORKER
from trainyard.specs.run import Run
from trainyard.upstream.workloads.gone import gone

LABEL = 63
"""Characters of a DNS label."""

LAUNCHER = Rule(
    id="run/launcher",
    title="The launcher of a job exists.",
    why="without a launcher no process of the job starts",
    fix="use a launcher that is installed",
    source="docs/jobs.md",
    layer="run",
)
KIND = Rule(
    id="run/kind",
    title="The kind of a job exists, and its cluster has the operator for it.",
    why="without its operator the object is stored, but no pods are created",
    fix="use a kind of the cluster, or add its operator",
    source="docs/jobs.md",
    layer="run",
)
PAIR = Rule(
    id="run/pair",
    title="The kind supports what the launcher needs.",
    why="otherwise the processes do not find each other, or do not start",
    fix="use a kind that supports it",
    source="docs/jobs.md",
    layer="run",
)
NO_RUNTIME = Rule(
    id="run/runtime",
    title="Only a job of kind TrainJob names a runtime.",
    why="objects of other kinds contain their pods, and would ignore the runtime",
    fix="write kind: TrainJob, or remove runtime",
    source="docs/jobs.md",
    layer="run",
)
QUEUE_KIND = Rule(
    id="run/queue-kind",
    title="A job's queue admits the kind of the job.",
    why="Kueue does not admit Volcano's Jobs, and Volcano starts other kinds without a gang",
    fix="use a queue of the other scheduler or another kind, or leave the kind's operator to Volcano by `scheduler`",
    source="kueue v0.19.2 pkg/controller/jobs; volcano v1.14.1 pkg/controllers/job; docs/clusters.md",
    layer="run",
)
NAME_LENGTH = Rule(
    id="rdv-name-len",
    title="The host name of the last pod of every role has at most 63 characters.",
    why="a longer host name is refused or cut, so the ranks do not find each other",
    fix="shorten the name of the job or of the role",
    source="kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go",
    layer="run",
)
TOPOLOGY_OF_ROLES = Rule(
    id="tas-roles",
    title="A required topology level is only used with one role that trains.",
    why="Kueue places every role separately: each is in one rack, but not all in the same rack",
    fix="use preferred, or a single role",
    source="kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go",
    layer="queueing",
    severity=Severity.WARNING,
)


@NAMED.check()
def check_names(job: OneJob) -> Iterator[Finding]:
    """Yield a launcher or a kind that does not exist, and a kind that the cluster does not run."""
    run = job.run
    if run is None:
        return
    known, names = kinds(), launchers()
    if run.job.launcher not in names:
        message = f"launcher {run.job.launcher!r} does not exist; {did_you_mean(run.job.launcher, names)}"
        yield LAUNCHER.at(run.source, ("launcher",), message)
    kind = known.get(run.kind)
    if kind is None:
        why = gone(run.kind) or f"does not exist; {did_you_mean(run.kind, known)}"
        yield KIND.at(run.source, ("kind",), f"kind {run.kind!r} {why}")
    elif kind not in available(run.cluster):
        message = (
            f"kind {run.kind!r} needs operator {kind.carrier.operator!r}, which cluster {run.cluster_name!r} does "
            f"not have; kinds there: {name_kinds(run, lambda _: True)}"
        )
        yield KIND.at(run.source, ("kind",), message)


@RUN.check()
def check_pair(planned: Planned) -> Iterator[Finding]:
    """Yield the findings on launcher needs that the kind does not meet, and on roles that it cannot carry or misses."""
    run, kind, launcher = planned.run, planned.kind, planned.launcher
    roles = launcher.starts(launcher.roles(run))
    is_unknown = run.job.queue not in run.cluster.queues  # nobody knows whose it is
    if kind in available(run.cluster) and kind not in admitted_kinds(run) and not is_unknown:
        scheduler = "Volcano" if kind.admitted_by(run.cluster) == "kueue" else "Kueue"
        able = name_kinds(run, lambda _: True)
        message = (
            f"queue {run.job.queue!r} belongs to {scheduler}, which does not admit kind {kind.name}; kinds that it "
            f"admits: {able}"
        )
        yield QUEUE_KIND.at(run.source, ("kind",) if run.job.kind else ("queue",), message)
        return
    wanted = launcher.wants(run, roles)
    if "elastic" in wanted and "elastic" not in kind.gives:
        able = name_kinds(run, lambda other: other.can(wanted, roles))
        message = f"minNodes is {run.job.min_nodes}, but kind {kind.name!r} is not elastic; kinds that are: {able}"
        yield ELASTIC.at(run.source, ("minNodes",), message)
    foreign = [role.name for role in roles if not kind.carries(role.name)]
    missing = [name for name in sorted(kind.required) if name not in {role.name for role in roles}]
    lacking = sorted(wanted - kind.gives - {"elastic"})
    if lacking or missing or (foreign and not run.job.roles):
        able = name_kinds(run, lambda other: other.can(wanted, roles))
        why = f", which does not provide {lacking[0]!r}" if lacking else ""
        fix = f"{PAIR.fix}: {NEEDS.get(lacking[0], lacking[0])}" if lacking else None
        message = f"launcher {launcher.name!r} cannot run in kind {kind.name!r}{why}; kinds that can: {able}"
        yield PAIR.at(run.source, ("kind",) if run.job.kind else ("launcher",), message, fix=fix)
    elif foreign:
        able = name_kinds(run, lambda other: other.can(wanted, roles))
        has = ", ".join(kind.replicas or ())
        message = f"kind {kind.name!r} has no role {foreign[0]!r}; it has: {has}; kinds that can: {able}"
        yield ROLES.at(run.source, ("roles", foreign[0]), message)


def name_kinds(run: Run, able: Callable[[Kind], bool]) -> str:
    """Name the kinds that the run's queue admits and that can do something, or else the operator of one that could."""
    here = sorted(admitted_kinds(run), key=lambda kind: (kind.name not in PREFERRED, kind.name))
    if names := ", ".join(kind.name for kind in here if able(kind)):
        return names
    schedulers = {kind.admitted_by(run.cluster) for kind in here} or {"kueue"}
    others = sorted(
        (kind for kind in kinds().values() if kind.admitted_by(run.cluster) in schedulers),
        key=lambda kind: (kind.carrier.ending is None, kind.name not in PREFERRED, kind.name),
    )
    missing = next((kind for kind in others if able(kind) and kind.carrier.operator), None)
    return f"{missing.name}, with {missing.carrier.operator}" if missing else f"none in queue {run.job.queue!r}"


@RUN.check()
def check_lengths(planned: Planned) -> Iterator[Finding]:
    """Yield a role whose last pod has a name that is too long to resolve."""
    run, kind = planned.run, planned.kind
    for role in planned.roles:
        last = role.nodes
        if role.name == WORKER:
            last = run.job.array.of if run.job.array is not None else bounds(run.job)[1]
        length = len(kind.host(run.name, role.name, last - 1)) + kind.suffix
        if length > LABEL:
            message = (
                f"the last pod's host name in role {role.name!r} has {length} characters, more than {LABEL}; "
                "shorten the job's name"
            )
            yield NAME_LENGTH.at(run.source, role.path or ("nodes",), message)


@RESOLVED.check()
def check_variables(run: Resolved) -> Iterator[Finding]:
    """Yield variables of the job that its kind or operator sets: of two, one is silently ignored.

    That an operator hides GPUs from pods that do not train is no reason for ranks not to say which they see.
    """
    kind, job = run.kind, run.run.job
    hidden = "NVIDIA_"
    taken = {
        name for role in run.specs for name in kind.injected(role.name) if role.trains or not name.startswith(hidden)
    }
    taken |= {name for role in run.roles for name in from_fields(run, role)}
    taken -= run.launcher.variables
    for path, names in named_variables(job):
        for name in sorted(taken & set(names)):
            message = f"{'.'.join(path)} has {name}, which kind {kind.name!r} sets itself; remove it"
            yield VARIABLES.at(run.run.source, (*path, name), message)


@RESOLVED.check()
def check_runtime(run: Resolved) -> Iterator[Finding]:
    """Yield a runtime that the job names for a kind that takes none."""
    if run.run.job.runtime is not None and not run.kind.takes_runtimes:
        able = ", ".join(kind.name for kind in kinds().values() if kind.takes_runtimes)
        message = (
            f"runtime is {run.run.job.runtime!r}, but kind {run.kind.name!r} does not use one; kinds that do: {able}"
        )
        yield NO_RUNTIME.at(run.run.source, ("runtime",), message)


@RESOLVED.check()
def check_topology(run: Resolved) -> Iterator[Finding]:
    """Yield a required topology over several roles, which holds for each of them alone."""
    topology, training = run.run.job.topology, [role.name for role in run.specs if role.ranks]
    if topology is not None and topology.required and len(training) > 1:
        message = (
            f"topology.required is {topology.required}, but each of {len(training)} roles is placed separately; use "
            "preferred, or a single role"
        )
        yield TOPOLOGY_OF_ROLES.at(run.run.source, ("topology", "required"), message)
