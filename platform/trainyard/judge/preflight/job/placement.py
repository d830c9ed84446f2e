"""Where a job wants to run on its cluster must exist and be for it: queue, pools, priority, level, fabric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import JOB, NAMED, OneJob
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.job import Job
from trainyard.specs.models.team import Team
from trainyard.specs.run import pools_of
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import JobFile

KUEUE = "kubernetes-sigs/kueue v0.19.2"

PRIORITY = Rule(
    id="spec/unknown-priority",
    title="The priority of a job exists on its cluster.",
    why="Kueue refuses a job whose WorkloadPriorityClass does not exist",
    fix="use a priority of the cluster",
    source=f"{KUEUE} pkg/util/priority/priority.go",
)
TEAM_PRIORITY = Rule(
    id="spec/team-priority",
    title="A job has a priority that its team may use.",
    why="it could preempt jobs of other teams",
    fix="use a priority of the team, or add it to platform/teams/<team>.yaml",
    source="docs/clusters.md",
)
QUEUE = Rule(
    id="spec/unknown-queue",
    title="The queue of a job exists on its cluster.",
    why="Kueue keeps a job of a missing queue pending for ever",
    fix="use a queue of the cluster",
    source=f"{KUEUE} pkg/controller/core/workload_controller.go",
)
QUEUE_TEAM = Rule(
    id="spec/queue-team",
    title="A job's queue admits its team.",
    why="the team's namespace has no LocalQueue of that name, so the job stays pending for ever",
    fix="use a queue that admits the team, or add the team to the queue",
    source=f"{KUEUE} pkg/controller/core/workload_controller.go",
)
QUEUE_POOL = Rule(
    id="spec/queue-pool",
    title="A job's queue has quota for the job's pools.",
    why="no flavor of the queue matches the pool, so the job is never admitted",
    fix="use a pool that the queue has quota for, or add quota for this pool",
    source=f"{KUEUE} pkg/scheduler/flavorassigner/flavorassigner.go",
)
POOL = Rule(
    id="spec/unknown-pool",
    title="The pools that jobs, queues, cohorts and the fabric name exist in the cluster.",
    why="pods would select nodes that do not exist",
    fix="use a pool of the cluster",
    source="docs/clusters.md",
)
SPOT = Rule(
    id="spec/spot-pool",
    title="A job on spot nodes sets spot: true.",
    why="spot nodes disappear at about 30 seconds' notice, and a job that does not save in time starts over",
    fix="set spot: true, or use another pool",
    source="docs/jobs.md",
)
LEVEL = Rule(
    id="spec/unknown-level",
    title="The topology level of a job exists on its cluster.",
    why="Kueue never admits a job with a level that the flavor's Topology does not have",
    fix="use a level of the cluster's topology",
    source=f"{KUEUE} pkg/cache/scheduler/tas_flavor_snapshot.go",
)
NO_RDMA = Rule(
    id="spec/no-rdma",
    title="A job with fabric: rdma runs on nodes that have RDMA.",
    why="the nodes offer no RDMA device, so pods stay pending or NCCL fails",
    fix="use fabric: tcp, or a pool on the fabric",
    source="docs/clusters.md",
)


@NAMED.check()
def check_names(job: OneJob) -> Iterator[Finding]:
    """Yield the findings on names that the cluster lacks or that are not for the job; an unknown team is not judged."""
    if job.cluster is not None:
        there = On(job.file, job.file.job.cluster, job.cluster)
        yield from there.queue(team_known=job.team is not None)
        yield from there.pools()
        yield from there.level()
        if job.team is not None:
            yield from check_priority(job.file, job.cluster, job.team)


@JOB.check()
def check(job: OneJob) -> Iterator[Finding]:
    """Yield spot nodes that the job does not expect, and RDMA where there is none."""
    if job.cluster is not None:
        there = On(job.file, job.file.job.cluster, job.cluster)
        yield from there.spot()
        yield from there.rdma()


def check_alone(file: JobFile, cluster: Cluster) -> Iterator[Finding]:
    """Yield the problems with where a job wants to run, but for the priorities of its team."""
    there = On(file, file.job.cluster, cluster)
    yield from there.queue(team_known=True)
    yield from there.pools()
    yield from there.level()
    yield from there.spot()
    yield from there.rdma()


def absent(what: str, name: str, cluster: str, choices: Iterable[str]) -> str:
    """Return the sentence for something that a cluster does not have."""
    return f"{what} {name!r} does not exist on cluster {cluster!r}; {did_you_mean(name, choices)}"


def named_pools(job: Job) -> Iterator[tuple[str, Path]]:
    """Yield the pools that a job names, with the fields."""
    if isinstance(job.pool, str):
        yield job.pool, ("pool",)
    else:
        yield from ((name, ("pool", index)) for index, name in enumerate(job.named_pools))
    yield from ((role.pool, ("roles", name, "pool")) for name, role in job.roles.items() if role.pool)


def check_priority(file: JobFile, cluster: Cluster, team: Team) -> Iterator[Finding]:
    """Yield a priority that the cluster does not have, or that the team may not use."""
    name = file.job.priority
    if name is None:
        return
    if name not in cluster.priorities:
        message = absent("priority", name, file.job.cluster, cluster.priorities)
        yield PRIORITY.at(file.source, ("priority",), message)
    elif team.priorities and name not in team.priorities:
        message = f"team {file.team!r} may not use priority {name!r}; {did_you_mean(name, team.priorities)}"
        yield TEAM_PRIORITY.at(file.source, ("priority",), message)


@dataclass(frozen=True, slots=True)
class On:
    """A job on its cluster."""

    file: JobFile
    name: str
    cluster: Cluster

    def queue(self, *, team_known: bool) -> Iterator[Finding]:
        """Yield a queue that does not exist, does not admit the team, or has no quota of the job's pools."""
        job, queues, source = self.file.job, self.cluster.queues, self.file.source
        queue = queues.get(job.queue)
        if queue is None:
            yield QUEUE.at(source, ("queue",), absent("queue", job.queue, self.name, queues))
            return
        if team_known and self.file.team not in queue.teams:
            pools = {name for name, _ in named_pools(job)} & self.cluster.pools.keys()
            alike = {name: one_queue for name, one_queue in queues.items() if one_queue.scheduler == queue.scheduler}
            able = {name: one_queue for name, one_queue in alike.items() if pools <= one_queue.nominal_quota.keys()}
            open_to = [name for name, one_queue in able.items() if self.file.team in one_queue.teams]
            none = f"no queue of {self.name} with quota for {' and '.join(sorted(pools))} does"
            hint = f"use {' or '.join(open_to)}" if open_to else none
            message = f"queue {job.queue!r} does not admit team {self.file.team!r}; {hint}"
            yield QUEUE_TEAM.at(source, ("queue",), message)
        for name, place in named_pools(job):
            if name in self.cluster.pools and name not in queue.nominal_quota:
                hint = did_you_mean(name, queue.nominal_quota)
                message = f"queue {job.queue!r} has no quota for pool {name!r}; {hint}"
                yield QUEUE_POOL.at(source, place, message)

    def pools(self) -> Iterator[Finding]:
        """Yield pools that do not exist."""
        job, pools = self.file.job, self.cluster.pools
        for name, place in named_pools(job):
            if name not in pools:
                yield POOL.at(self.file.source, place, absent("pool", name, self.name, pools))

    def spot(self) -> Iterator[Finding]:
        """Yield spot nodes that the job does not expect."""
        job, pools = self.file.job, self.cluster.pools
        for name, place in named_pools(job):
            if name in pools and pools[name].spot and not job.spot:
                message = f"pool {name!r} has spot nodes; set spot: true, or use another pool"
                yield SPOT.at(self.file.source, place, message)

    def level(self) -> Iterator[Finding]:
        """Yield a topology level that the cluster does not have."""
        job, cluster = self.file.job, self.cluster
        if job.topology is not None and job.topology.level not in cluster.levels:
            field = "required" if job.topology.required else "preferred"
            message = absent("topology level", job.topology.level, self.name, cluster.levels)
            yield LEVEL.at(self.file.source, ("topology", field), message)

    def rdma(self) -> Iterator[Finding]:
        """Yield RDMA on a cluster or a pool without it."""
        fabric, job = self.cluster.fabric, self.file.job
        pools = {name: self.cluster.pools.get(name) for name in pools_of(job, self.cluster)}
        if job.fabric != "rdma" or not all(pool and is_known_shape(pool.shape) for pool in pools.values()):
            return
        outside = [name for name in pools if not fabric_type(self.cluster).reaches(self.cluster, name)]
        if fabric is None or not fabric_type(self.cluster).usable(self.cluster):
            attaches = fabric is not None and fabric.type != "none"
            has = f"{fabric.type} attached by {fabric.attach!r}" if fabric and attaches else "no fabric"
            way = "set the cluster's fabric.attach, or use tcp" if attaches else "use tcp"
            message = f"fabric is 'rdma', but cluster {self.name!r} has {has}; {way}"
        elif outside:
            message = f"fabric is 'rdma', but pool {outside[0]!r} is not on the fabric; use tcp or another pool"
        else:
            return
        yield NO_RDMA.at(self.file.source, ("fabric",), message)
