"""Where a job wants to run on its cluster must exist and be for it: queue, pools, priority, level, fabric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trainyard.documents import Path
from trainyard.findings import Finding, did_you_mean
from trainyard.rules import Rule
from trainyard.sizing.fabrics import fabric_type
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.job import Job
from trainyard.specs.models.team import Team
from trainyard.specs.shapes import known
from trainyard.specs.sources import JobFile

KUEUE = "kubernetes-sigs/kueue v0.19.2"

PRIORITY = Rule(
    id="spec/unknown-priority",
    title="The priority that a job names is one of its cluster's.",
    why="Kueue refuses a job whose WorkloadPriorityClass does not exist",
    fix="name one of the cluster's priorities",
    source=f"{KUEUE} pkg/util/priority/priority.go",
)
TEAM_PRIORITY = Rule(
    id="spec/team-priority",
    title="A job has a priority that its team may use.",
    why="a priority that is not the team's would preempt other teams' jobs",
    fix="name a priority of the team, or add it to platform/teams/<team>.yaml",
    source="docs/clusters.md",
)
QUEUE = Rule(
    id="spec/unknown-queue",
    title="The queue that a job names is one of its cluster's.",
    why="Kueue keeps a job of a queue that does not exist pending for ever",
    fix="name a queue of the cluster",
    source=f"{KUEUE} pkg/controller/core/workload_controller.go",
)
QUEUE_TEAM = Rule(
    id="spec/queue-team",
    title="A job's queue admits its team.",
    why="the team's namespace has no LocalQueue of that name, so the job stays pending for ever",
    fix="name a queue that admits the team, or add the team to the queue",
    source=f"{KUEUE} pkg/controller/core/workload_controller.go",
)
QUEUE_POOL = Rule(
    id="spec/queue-pool",
    title="A job's queue has quota of its pools.",
    why="no flavor of the queue matches the pool, so the job is never admitted",
    fix="name a pool that the queue has quota of, or give it some",
    source=f"{KUEUE} pkg/scheduler/flavorassigner/flavorassigner.go",
)
POOL = Rule(
    id="spec/unknown-pool",
    title="Pools that jobs, queues, cohorts and the fabric name are pools of the cluster.",
    why="pods would select nodes that do not exist",
    fix="name a pool of the cluster",
    source="docs/clusters.md",
)
SPOT = Rule(
    id="spec/spot-pool",
    title="A job on spot nodes says that it expects to lose them.",
    why="such nodes are taken away at half a minute's notice, and a job that does not save in time starts over",
    fix="set spot: true, or choose another pool",
    source="docs/jobs.md",
)
LEVEL = Rule(
    id="spec/unknown-level",
    title="The topology level that a job asks for is one of its cluster's.",
    why="Kueue refuses a level that the flavor's Topology does not have, and the job is never admitted",
    fix="name a level of the cluster's topology",
    source=f"{KUEUE} pkg/cache/scheduler/tas_flavor_snapshot.go",
)
NO_RDMA = Rule(
    id="spec/no-rdma",
    title="A job that asks for RDMA runs on nodes that have it.",
    why="no device of the fabric is there to ask for, so the pods stay pending or NCCL fails",
    fix="use fabric: tcp, or a pool on the fabric",
    source="docs/clusters.md",
)


def check(file: JobFile, cluster: Cluster, *, team_known: bool) -> Iterator[Finding]:
    """Yield what the job names of its cluster that is not there, or not for it; a team nobody knows is not judged."""
    there = On(file, file.job.cluster, cluster)
    yield from there.queue(team_known=team_known)
    yield from there.pools()
    yield from there.placement()


def absent(what: str, name: str, cluster: str, choices: Iterable[str]) -> str:
    """Return the sentence for something that a cluster does not have."""
    return f"{what} {name!r} does not exist on cluster {cluster!r}; {did_you_mean(name, choices)}"


def pools_of(job: Job) -> Iterator[tuple[str, Path]]:
    """Yield the pools that a job names, with the fields."""
    yield job.pool, ("pool",)
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
        message = f"priority {name!r} is not for team {file.team!r}; {did_you_mean(name, team.priorities)}"
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
            pools = {name for name, _ in pools_of(job)} & self.cluster.pools.keys()
            alike = {name: each for name, each in queues.items() if each.scheduler == queue.scheduler}
            able = {name: each for name, each in alike.items() if pools <= each.nominal_quota.keys()}
            open_to = [name for name, each in able.items() if self.file.team in each.teams]
            none = f"no queue of {self.name} with quota of {' and '.join(sorted(pools))} does"
            hint = f"use {' or '.join(open_to)}" if open_to else none
            message = f"queue {job.queue!r} does not admit team {self.file.team!r}; {hint}"
            yield QUEUE_TEAM.at(source, ("queue",), message)
        for name, place in pools_of(job):
            if name in self.cluster.pools and name not in queue.nominal_quota:
                hint = did_you_mean(name, queue.nominal_quota)
                message = f"queue {job.queue!r} has no quota of pool {name!r}; {hint}"
                yield QUEUE_POOL.at(source, place, message)

    def pools(self) -> Iterator[Finding]:
        """Yield pools that do not exist, and spot nodes that the job does not expect."""
        job, pools = self.file.job, self.cluster.pools
        for name, place in pools_of(job):
            if name not in pools:
                yield POOL.at(self.file.source, place, absent("pool", name, self.name, pools))
            elif pools[name].spot and not job.spot:
                message = f"pool {name!r} has spot nodes; set spot: true, or choose another pool"
                yield SPOT.at(self.file.source, place, message)

    def placement(self) -> Iterator[Finding]:
        """Yield a topology level that the cluster does not have, and RDMA where there is none."""
        job, cluster = self.file.job, self.cluster
        if job.topology is not None and job.topology.level not in cluster.levels:
            field = "required" if job.topology.required else "preferred"
            message = absent("topology level", job.topology.level, self.name, cluster.levels)
            yield LEVEL.at(self.file.source, ("topology", field), message)
        pool = cluster.pools.get(job.pool)
        if job.fabric == "rdma" and pool is not None and known(pool.shape):
            yield from self.rdma()

    def rdma(self) -> Iterator[Finding]:
        """Yield RDMA on a cluster or a pool without it."""
        fabric, job = self.cluster.fabric, self.file.job
        if fabric is None or not fabric_type(self.cluster).usable(self.cluster):
            has = "no fabric" if fabric is None else f"{fabric.type} attached by {fabric.attach!r}"
            attaches = fabric is not None and fabric.type != "none"
            way = "say how in the cluster's fabric.attach, or use tcp" if attaches else "use tcp"
            message = f"fabric is 'rdma', but cluster {self.name!r} has {has}; {way}"
        elif not fabric_type(self.cluster).reaches(self.cluster, job.pool):
            message = f"fabric is 'rdma', but pool {job.pool!r} is not on it; use tcp or another pool"
        else:
            return
        yield NO_RDMA.at(self.file.source, ("fabric",), message)
