"""What a job names must exist where it runs: cluster, queue, pools, priority, secrets, levels, networks, registries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from trainyard.documents import Path
from trainyard.findings import Finding, Location, did_you_mean
from trainyard.preflight import secrets
from trainyard.preflight.secrets import ACCOUNT, CONFIG_MAP, SECRET
from trainyard.rules import Rule
from trainyard.sizing.fabrics import fabric_type
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.job import Job
from trainyard.specs.models.repository import Repository
from trainyard.specs.models.team import Team
from trainyard.specs.reading import layout
from trainyard.specs.reading.layout import Place
from trainyard.specs.shapes import known
from trainyard.specs.sources import ExtraFile, JobFile, ProgramFile, Specs
from trainyard.system.repository import team_file

DOCS = "docs/jobs.md"
KUEUE = "kubernetes-sigs/kueue v0.19.2"

UNKNOWN_CLUSTER = Rule(
    id="spec/unknown-cluster",
    title="Clusters that jobs, teams and objects of one's own are for have files.",
    why="nothing would be rendered for it anywhere",
    fix="name a file of platform/clusters, or write one",
    source=DOCS,
)
UNKNOWN_TEAM = Rule(
    id="spec/unknown-team",
    title="Every folder of jobs, and every team that a queue admits, has a file in platform/teams.",
    why="a team's file makes its namespace; without it its jobs have nowhere to run",
    fix="write platform/teams/<team>.yaml, or correct the name",
    source=DOCS,
)
REGISTRY = Rule(
    id="spec/image-registry",
    title="Images come from registries that the repository allows.",
    why="an image from elsewhere runs code that nobody vouches for",
    fix="push the image to an allowed registry, or add the registry to repository.yaml",
    source="docs/clusters.md",
)
MIN_NODES = Rule(
    id="spec/min-nodes",
    title="minNodes is at most nodes, and maxNodes at least.",
    why="a job cannot begin with more nodes than it asks for, or than it may ever have",
    fix="set minNodes, nodes and maxNodes in this order; maxNodes needs a minNodes",
    source=DOCS,
)
TWICE = Rule(
    id="spec/duplicate-variable",
    title="A variable stands in env or in secrets, not in both.",
    why="of two variables of one name the last one counts, and the other is ignored without a word",
    fix="remove one of them",
    source="kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go EnvVar",
)
GPU_PART = Rule(
    id="spec/gpu-part",
    title="A job asks for whole GPUs or for a part of one.",
    why="the two are different devices, and no pod can be given both as one",
    fix="remove gpu, or gpusPerNode",
    source=DOCS,
)
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
    source=DOCS,
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

SWITCHED_OFF = Rule(
    id="spec/unknown-policy",
    title="The policies that the repository switches off exist.",
    why="a policy whose id is mistyped stays on, and whoever reads the settings takes it for off",
    fix="name a policy, or remove the line",
    source="docs/rules.md",
)

MISSING = (UNKNOWN_CLUSTER, UNKNOWN_TEAM, SECRET, CONFIG_MAP, ACCOUNT, PRIORITY, QUEUE, POOL, LEVEL, REGISTRY)
"""What a job names that is not there, or not allowed, whatever else it says."""


def check_job(specs: Specs, file: JobFile, *, broken: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yield what a job names that does not exist or that is not for it.

    `broken` are the keys of specs that are there but could not be read.
    """
    job = file.job
    cluster, team = specs.clusters.get(job.cluster), specs.teams.get(file.team)
    if cluster is None and f"cluster/{job.cluster}" not in broken:
        names = present("cluster", specs.clusters, broken)
        message = f"cluster {job.cluster!r} does not exist; {did_you_mean(job.cluster, names)}"
        yield UNKNOWN_CLUSTER.at(file.source, ("cluster",), message)
    yield from check_image(file, specs.repository)
    yield from check_fields(file)
    if cluster is not None:
        there = On(file, job.cluster, cluster)
        yield from there.queue(team_known=team is not None)
        yield from there.pools()
        yield from there.placement()
    if team is not None:
        yield from secrets.check(file, team)
    if team is not None and cluster is not None:
        yield from check_priority(file, cluster, team)


def present(kind: str, names: Iterable[str], broken: frozenset[str]) -> set[str]:
    """Return the names of all specs of a kind that are there, readable or not."""
    return {*names, *(key.removeprefix(f"{kind}/") for key in broken if key.startswith(f"{kind}/"))}


def absent(what: str, name: str, cluster: str, choices: Iterable[str]) -> str:
    """Return the sentence for something that a cluster does not have."""
    return f"{what} {name!r} does not exist on cluster {cluster!r}; {did_you_mean(name, choices)}"


def pools_of(job: Job) -> Iterator[tuple[str, Path]]:
    """Yield the pools that a job names, with the fields."""
    yield job.pool, ("pool",)
    yield from ((role.pool, ("roles", name, "pool")) for name, role in job.roles.items() if role.pool)


def check_folders(places: Iterable[Place], teams: Mapping[str, Team], *, broken: frozenset[str]) -> Iterator[Finding]:
    """Yield folders of jobs that belong to no team, at the first file of each."""
    names = present("team", teams, broken)
    for folder, place in {place.folder: place for place in reversed(list(places))}.items():
        if folder not in names:
            shown = layout.text(folder)
            message = f"team {shown!r} has no file {team_file(shown)}; {did_you_mean(shown, names)}"
            yield UNKNOWN_TEAM.of(Location(place.path, 1, 1), message)


def check_extra(specs: Specs, file: ExtraFile | ProgramFile, *, broken: frozenset[str]) -> Iterator[Finding]:
    """Yield objects and programs of one's own in the folder of a cluster or team that does not exist."""
    team = file.folder.removeprefix("teams/")
    clusters, teams = present("cluster", specs.clusters, broken), present("team", specs.teams, broken)
    place = Location(file.source.file if isinstance(file, ExtraFile) else file.file, 1, 1)
    if file.cluster not in clusters:
        message = f"cluster {file.cluster!r} does not exist; {did_you_mean(file.cluster, clusters)}"
        yield UNKNOWN_CLUSTER.of(place, message)
    elif team != file.folder and team not in teams:
        yield UNKNOWN_TEAM.of(place, f"team {team!r} does not exist; {did_you_mean(team, teams)}")


def check_switched_off(specs: Specs, policies: Collection[str]) -> Iterator[Finding]:
    """Yield policies that the repository switches off and that do not exist."""
    for name in specs.repository.policies:
        if name not in policies:
            message = f"policy {name!r} does not exist; {did_you_mean(name, policies)}"
            yield SWITCHED_OFF.at(specs.sources["repository"], ("policies", name), message, key=True)


def check_image(file: JobFile, repository: Repository) -> Iterator[Finding]:
    """Yield an image from a registry that the repository does not allow."""
    allowed = repository.registries
    if allowed and not any(file.job.image.startswith(prefix.rstrip("/") + "/") for prefix in allowed):
        name = file.job.image.partition("@")[0]
        message = f"image {name!r} is from a registry that is not allowed; use one of: {', '.join(allowed)}"
        yield REGISTRY.at(file.source, ("image",), message)


def check_fields(file: JobFile) -> Iterator[Finding]:
    """Yield fields of a job that contradict each other."""
    job = file.job
    if job.min_nodes is not None and job.min_nodes > job.nodes:
        message = f"minNodes is {job.min_nodes}, but nodes is {job.nodes}; lower minNodes"
        yield MIN_NODES.at(file.source, ("minNodes",), message)
    if job.max_nodes is not None and job.min_nodes is None:
        message = f"maxNodes is {job.max_nodes}, but there is no minNodes, so the job is not elastic; add minNodes"
        yield MIN_NODES.at(file.source, ("maxNodes",), message)
    elif job.max_nodes is not None and job.max_nodes < job.nodes:
        message = f"maxNodes is {job.max_nodes}, but nodes is {job.nodes}; raise maxNodes"
        yield MIN_NODES.at(file.source, ("maxNodes",), message)
    for name in sorted(job.env.keys() & job.secrets.keys()):
        message = f"variable {name!r} is in env and in secrets; remove one"
        yield TWICE.at(file.source, ("secrets", name), message, key=True)
    for role, said in job.roles.items():
        for name in sorted(said.env.keys() & job.secrets.keys()):
            message = f"variable {name!r} is in env of role {role!r} and in secrets; remove one"
            yield TWICE.at(file.source, ("roles", role, "env", name), message, key=True)
    if job.gpu is not None and job.gpus_per_node:
        message = "gpu asks for a part of a GPU, but gpusPerNode for whole ones; remove one"
        yield GPU_PART.at(file.source, ("gpu",), message)


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
            open_to = [name for name, each in queues.items() if self.file.team in each.teams]
            hint = f"use {' or '.join(open_to)}" if open_to else f"no queue of {self.name} does"
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
