"""What a job names must exist where it runs, and what it asks for must fit: checks between files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from trainyard.documents import Path
from trainyard.findings import Finding, did_you_mean
from trainyard.specs import room, volumes
from trainyard.specs.inventory import known
from trainyard.specs.models.cluster import Cluster, Pool
from trainyard.specs.models.repository import Repository
from trainyard.specs.models.team import Team
from trainyard.specs.reading import layout
from trainyard.specs.reading.layout import Place, problem
from trainyard.specs.sources import ExtraFile, JobFile, Specs

RDMA = frozenset({"roce", "infiniband"})
"""Fabrics with RDMA."""


def check(specs: Specs, *, broken: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yield what is wrong between files; `broken` are keys of specs that are there but could not be read."""
    for job in specs.jobs:
        yield from check_job(specs, job, broken=broken)
    for file in specs.extra:
        yield from check_extra(specs, file, broken=broken)


def check_names(specs: Specs, jobs: Iterable[JobFile], *, broken: frozenset[str]) -> Iterator[Finding]:
    """Yield what broken jobs name that does not exist; what they ask for is unknown until they are mended."""
    for job in jobs:
        for finding in check_job(specs, job, broken=broken):
            if finding.rule.startswith("spec/unknown-") or finding.rule == "spec/image-registry":
                yield finding


def check_job(specs: Specs, file: JobFile, *, broken: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yield what one job names that does not exist, or asks for that does not fit; a retired job is left in peace."""
    if file.job.retired:
        return
    cluster, team = specs.clusters.get(file.job.cluster), specs.teams.get(file.team)
    if cluster is None and f"cluster/{file.job.cluster}" not in broken:
        names = present("cluster", specs.clusters, broken)
        message = f"cluster {file.job.cluster!r} does not exist; {did_you_mean(file.job.cluster, names)}"
        yield file.problem("unknown-cluster", ("cluster",), message)
    yield from image(file, specs.repository)
    yield from volumes.mounts(file)
    yield from bounds(file)
    if cluster is not None:
        there = On(file, file.job.cluster, cluster)
        yield from there.queue(team_known=file.team in specs.teams)
        yield from there.pools()
        yield from there.placement()
    if team is not None:
        yield from secrets(file, team)
    if team is not None and cluster is not None:
        yield from volumes.check(file, team, cluster)
        yield from priority(file, cluster, team)
        yield from locked_memory(file, cluster, team)


def present(kind: str, names: Iterable[str], broken: frozenset[str]) -> set[str]:
    """Return the names of all specs of a kind that are there, readable or not."""
    return {*names, *(key.removeprefix(f"{kind}/") for key in broken if key.startswith(f"{kind}/"))}


def absent(what: str, name: str, cluster: str, choices: Iterable[str]) -> str:
    """Return the sentence for something that a cluster does not have."""
    return f"{what} {name!r} does not exist on cluster {cluster!r}; {did_you_mean(name, choices)}"


def unknown_teams(places: Iterable[Place], teams: Mapping[str, Team], *, broken: frozenset[str]) -> Iterator[Finding]:
    """Yield folders of jobs that belong to no team, at the first file of each."""
    names = present("team", teams, broken)
    for folder, place in {place.folder: place for place in reversed(list(places))}.items():
        if folder not in names:
            shown = layout.text(folder)
            hint = did_you_mean(shown, names)
            message = f"team {shown!r} has no file {layout.TEAMS}/{shown}.yaml; {hint}"
            yield problem("unknown-team", place.path, message)


def check_extra(specs: Specs, file: ExtraFile, *, broken: frozenset[str]) -> Iterator[Finding]:
    """Yield plain objects in the folder of a cluster or team that does not exist."""
    team = file.folder.removeprefix("teams/")
    clusters, teams = present("cluster", specs.clusters, broken), present("team", specs.teams, broken)
    if file.cluster not in clusters:
        message = f"cluster {file.cluster!r} does not exist; {did_you_mean(file.cluster, clusters)}"
        yield problem("unknown-cluster", file.source.file, message)
    elif team != file.folder and team not in teams:
        yield problem("unknown-team", file.source.file, f"team {team!r} does not exist; {did_you_mean(team, teams)}")


def image(file: JobFile, repository: Repository) -> Iterator[Finding]:
    """Yield an image from a registry that the repository does not allow."""
    allowed = repository.registries
    if allowed and not any(file.job.image.startswith(prefix.rstrip("/") + "/") for prefix in allowed):
        name = file.job.image.partition("@")[0]
        message = f"image {name!r} is from a registry that is not allowed; use one of: {', '.join(allowed)}"
        yield file.problem("image-registry", ("image",), message)


def bounds(file: JobFile) -> Iterator[Finding]:
    """Yield fields of a job that contradict each other."""
    job = file.job
    if job.min_nodes is not None and job.min_nodes > job.nodes:
        message = f"minNodes is {job.min_nodes}, but nodes is {job.nodes}; lower minNodes"
        yield file.problem("min-nodes", ("minNodes",), message)
    for name in sorted(job.env.keys() & job.secrets.keys()):
        message = f"variable {name!r} is in env and in secrets; remove one"
        yield file.problem("duplicate-variable", ("secrets", name), message, key=True)
    if job.gpu is not None and job.gpus_per_node:
        message = "gpu asks for a part of a GPU, but gpusPerNode for whole ones; remove one"
        yield file.problem("gpu-part", ("gpu",), message)


def secrets(file: JobFile, team: Team) -> Iterator[Finding]:
    """Yield secrets and service accounts that the team does not list."""
    job, listing = file.job, f"{layout.TEAMS}/{file.team}.yaml"
    wanted: list[tuple[str, Path]] = [(ref.partition("/")[0], ("secrets", key)) for key, ref in job.secrets.items()]
    wanted += [(name, ("imagePullSecrets", index)) for index, name in enumerate(job.image_pull_secrets)]
    for name, place in wanted:
        if name not in team.secrets:
            message = f"secret {name!r} is not listed in {listing}; {did_you_mean(name, team.secrets)}"
            yield file.problem("unknown-secret", place, message)
    account = job.service_account
    if account is not None and account not in team.service_accounts:
        hint = did_you_mean(account, team.service_accounts)
        message = f"service account {account!r} is not listed in {listing}; {hint}"
        yield file.problem("unknown-service-account", ("serviceAccount",), message)


def priority(file: JobFile, cluster: Cluster, team: Team) -> Iterator[Finding]:
    """Yield a priority that the cluster does not have, or that the team may not use."""
    name = file.job.priority
    if name is None:
        return
    if name not in cluster.priorities:
        message = absent("priority", name, file.job.cluster, cluster.priorities)
        yield file.problem("unknown-priority", ("priority",), message)
    elif team.priorities and name not in team.priorities:
        message = f"priority {name!r} is not for team {file.team!r}; {did_you_mean(name, team.priorities)}"
        yield file.problem("team-priority", ("priority",), message)


def locked_memory(file: JobFile, cluster: Cluster, team: Team) -> Iterator[Finding]:
    """Yield RDMA where locked memory takes IPC_LOCK, which only a privileged namespace admits."""
    fabric = cluster.fabric if file.job.fabric == "rdma" else None
    if fabric is None or fabric.memlock != "capability" or team.pod_security == "privileged":
        return
    message = f"fabric is 'rdma', which needs IPC_LOCK here, but team {file.team!r} is {team.pod_security}; use tcp"
    yield file.problem("memlock-capability", ("fabric",), message)


@dataclass(frozen=True, slots=True)
class On:
    """A job on its cluster."""

    file: JobFile
    name: str
    cluster: Cluster

    def queue(self, *, team_known: bool) -> Iterator[Finding]:
        """Yield a queue that does not exist, does not admit the team, or has no quota of the job's pools."""
        job, queues = self.file.job, self.cluster.queues
        queue = queues.get(job.queue)
        if queue is None:
            yield self.file.problem("unknown-queue", ("queue",), absent("queue", job.queue, self.name, queues))
            return
        if team_known and self.file.team not in queue.teams:
            open_to = [name for name, each in queues.items() if self.file.team in each.teams]
            hint = f"use {' or '.join(open_to)}" if open_to else f"no queue of {self.name} does"
            message = f"queue {job.queue!r} does not admit team {self.file.team!r}; {hint}"
            yield self.file.problem("queue-team", ("queue",), message)
        for name, place in room.pools(job):
            if name in self.cluster.pools and name not in queue.nominal_quota:
                hint = did_you_mean(name, queue.nominal_quota)
                message = f"queue {job.queue!r} has no quota of pool {name!r}; {hint}"
                yield self.file.problem("queue-pool", place, message)

    def pools(self) -> Iterator[Finding]:
        """Yield pools that do not exist, sizes that do not fit, and spot nodes that the job does not expect."""
        job, pools = self.file.job, self.cluster.pools
        for name, place in room.pools(job):
            if name not in pools:
                yield self.file.problem("unknown-pool", place, absent("pool", name, self.name, pools))
            elif pools[name].spot and not job.spot:
                message = f"pool {name!r} has spot nodes; set spot: true, or choose another pool"
                yield self.file.problem("spot-pool", place, message)
        for ask in room.asks(job):
            pool = pools.get(ask.pool)
            if pool is not None and known(pool):
                yield from (self.file.problem(rule, path, message) for rule, path, message in room.check(ask, pool))

    def placement(self) -> Iterator[Finding]:
        """Yield a topology level that the cluster does not have, and RDMA where there is none."""
        job, cluster = self.file.job, self.cluster
        if job.topology is not None and job.topology.level not in cluster.levels:
            field = "required" if job.topology.required else "preferred"
            message = absent("topology level", job.topology.level, self.name, cluster.levels)
            yield self.file.problem("unknown-level", ("topology", field), message)
        pool = cluster.pools.get(job.pool)
        if job.fabric == "rdma" and pool is not None and known(pool):
            yield from self.rdma(pool)

    def rdma(self, pool: Pool) -> Iterator[Finding]:
        """Yield RDMA on a cluster or a pool without it."""
        fabric, job = self.cluster.fabric, self.file.job
        if fabric is None or fabric.type not in RDMA or fabric.attach == "none":
            has = "no fabric" if fabric is None else f"{fabric.type} attached by {fabric.attach!r}"
            message = f"fabric is 'rdma', but cluster {self.name!r} has {has}; use tcp"
        elif (fabric.pools and job.pool not in fabric.pools) or not (fabric.pools or pool.node.nics):
            message = f"fabric is 'rdma', but pool {job.pool!r} is not on it; use tcp or another pool"
        else:
            return
        yield self.file.problem("no-rdma", ("fabric",), message)
