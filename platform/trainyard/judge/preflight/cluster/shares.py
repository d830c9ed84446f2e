"""What a cluster says about its queues must agree: quotas, limits, cohorts and admitted teams."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.job.placement import POOL as UNKNOWN_POOL
from trainyard.judge.preflight.names import UNKNOWN_TEAM
from trainyard.judge.preflight.subjects import CLUSTER_BESIDE, OneCluster
from trainyard.render.parts.held import is_held
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.queues import Queue, Quota
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

DOCS = "docs/clusters.md"
KUEUE = "kubernetes-sigs/kueue v0.19.2"

NO_COHORT = Rule(
    id="spec/no-cohort",
    title="A queue with a borrowing or lending limit is in a cohort.",
    why="the API server refuses a ClusterQueue with such limits and no cohort",
    fix="add cohort, or remove the limit",
    source=f"{KUEUE} pkg/webhooks/clusterqueue_webhook.go",
)
NO_QUOTA = Rule(
    id="spec/no-quota",
    title="A queue sets limits only for pools in its nominalQuota.",
    why="a limit without a nominal quota is ignored",
    fix="add the pool to nominalQuota, with 0 if it has none",
    source=f"{KUEUE} apis/kueue/v1beta2/clusterqueue_types.go",
)
QUOTA = Rule(
    id="spec/quota",
    title="A quota in GPUs is for a pool that has GPUs.",
    why="on nodes without GPUs such a quota is worth nothing",
    fix="write nodes, or cpus with memory",
    source=DOCS,
)
CIRCLE = Rule(
    id="spec/cohort-circle",
    title="No cohort is its own ancestor.",
    why="Kueue stops the queues in such a circle, and has crashed on it",
    fix="give one of these cohorts another parent",
    source=f"{KUEUE} pkg/cache/hierarchy",
)
LENT = Rule(
    id="kq-lending",
    title="A queue lends at most its nominal quota.",
    why="Kueue's webhook refuses the ClusterQueue, and its jobs are never admitted",
    fix="lower lendingLimit, or raise nominalQuota",
    source="kueue v0.19.2 pkg/webhooks/clusterqueue_webhook.go validateLimit",
)
UNUSED = Rule(
    id="kq-pool-unused",
    title="Every pool has quota in at least one queue, services of NVIDIA NIM or a virtual cluster.",
    why="a job can only use pools that its queue has quota for, so nobody can use these nodes",
    fix="add the pool to the nominalQuota of a queue; waive this if the nodes have another purpose",
    source="docs/clusters.md",
    severity=Severity.WARNING,
)
COHORT = Rule(
    id="kq-cohort-typo",
    title="A cohort has several queues, or is declared under cohorts.",
    why="a mistyped name creates a new cohort: the queue borrows from nobody and lends to nobody",
    fix="correct the name, or declare the cohort under cohorts",
    source="kueue v0.19.2 pkg/cache/hierarchy/manager.go",
    severity=Severity.WARNING,
)


@CLUSTER_BESIDE.check()
def check_queues(one: OneCluster) -> Iterator[Finding]:
    """Yield the problems with queues, and admitted teams that have no file."""
    return check(one.cluster, one.source, one.teams)


def check(cluster: Cluster, source: Source, teams: Collection[str]) -> Iterator[Finding]:
    """Yield the problems with a cluster's queues and cohorts, and admitted teams that are not among the known ones."""
    shares = Shares(cluster, source)
    yield from shares.queues()
    yield from shares.cohorts()
    yield from shares.teams(teams)
    yield from shares.unused()
    yield from shares.alone()


@dataclass(frozen=True, slots=True)
class Shares:
    """Who has how much of a cluster, and where that was written."""

    cluster: Cluster
    source: Source

    def queues(self) -> Iterator[Finding]:
        """Yield quotas of pools that do not exist or cannot have them, and limits that no cohort gives a meaning."""
        for name, queue in self.cluster.queues.items():
            path: Path = ("queues", name)
            for field in ("nominalQuota", "borrowingLimit", "lendingLimit"):
                quotas = {"nominalQuota": queue.nominal_quota, "borrowingLimit": queue.borrowing_limit}
                limits = quotas.get(field, queue.lending_limit)
                yield from self.quotas((*path, field), limits)
                if field == "nominalQuota":
                    continue
                if limits and queue.cohort is None:
                    yield NO_COHORT.at(self.source, (*path, field), f"{field} needs a cohort; add cohort, or remove it")
                for pool in limits:
                    if pool not in queue.nominal_quota:
                        message = (
                            f"{field} names pool {pool!r}, which nominalQuota lacks; add it there, 0 if it has none"
                        )
                        yield NO_QUOTA.at(self.source, (*path, field, pool), message, key=True)
            for pool, lent in queue.lending_limit.items():
                own = queue.nominal_quota.get(pool)
                for unit in ("gpus", "nodes", "cpus"):
                    most, some = own and getattr(own, unit), getattr(lent, unit)
                    if most is not None and some is not None and some > most:
                        message = f"lendingLimit of {pool!r} is {some} {unit}, but nominalQuota is {most}; lower it"
                        yield LENT.at(self.source, (*path, "lendingLimit", pool, unit), message)

    def quotas(self, path: Path, quotas: dict[str, Quota]) -> Iterator[Finding]:
        """Yield quotas of unknown pools, and GPUs of pools that have none."""
        for name, quota in quotas.items():
            pool = self.cluster.pools.get(name)
            if pool is None:
                message = f"pool {name!r} does not exist; {did_you_mean(name, self.cluster.pools)}"
                yield UNKNOWN_POOL.at(self.source, (*path, name), message, key=True)
            elif quota.gpus is not None and is_known_shape(pool.shape) and pool.node.gpus is None:
                message = f"gpus is {quota.gpus}, but pool {name!r} has no GPUs; use nodes, or cpus with memory"
                yield QUOTA.at(self.source, (*path, name, "gpus"), message)

    def cohorts(self) -> Iterator[Finding]:
        """Yield cohorts whose parents run in a circle, which overflows Kueue's stack (v0.19.2 pkg/cache/hierarchy)."""
        for name, cohort in self.cluster.cohorts.items():
            yield from self.quotas(("cohorts", name, "nominalQuota"), cohort.nominal_quota)
            above, seen = cohort.parent, {name}
            while above is not None and above not in seen:
                seen.add(above)
                above = self.cluster.cohorts[above].parent if above in self.cluster.cohorts else None
            if above == name:
                message = f"cohort {name!r} is its own ancestor; change one parent in the circle"
                yield CIRCLE.at(self.source, ("cohorts", name, "parent"), message)

    def teams(self, known_teams: Collection[str]) -> Iterator[Finding]:
        """Yield admitted teams that do not exist."""
        for name, queue in self.cluster.queues.items():
            for index, team in enumerate(queue.teams):
                if team not in known_teams:
                    message = f"team {team!r} has no file in platform/teams; {did_you_mean(team, known_teams)}"
                    yield UNKNOWN_TEAM.at(self.source, ("queues", name, "teams", index), message)
        for team in self.cluster.pipelines.namespaces if self.cluster.pipelines else ():
            if team not in known_teams:
                message = f"team {team!r} has no file in platform/teams; {did_you_mean(team, known_teams)}"
                yield UNKNOWN_TEAM.at(self.source, ("pipelines", "namespaces", team), message, key=True)

    def unused(self) -> Iterator[Finding]:
        """Yield pools that no queue has, so that nobody may use them."""
        quotas = [queue.nominal_quota for queue in self.cluster.queues.values()]
        quotas += [cohort.nominal_quota for cohort in self.cluster.cohorts.values()]
        quota = {pool for one_quota in quotas for pool in one_quota}
        for name in self.cluster.pools if self.cluster.queues else ():
            if name not in quota and not is_held(self.cluster, name):
                message = f"no queue has quota for pool {name!r}, so no job can use it; add it to nominalQuota"
                yield UNUSED.at(self.source, ("pools", name), message, key=True)

    def alone(self) -> Iterator[Finding]:
        """Yield cohorts of one queue whose name is a slip, as others are there.

        Of two that are each alone and nearly of one name, either may be the slip: the later has the finding.
        """
        members = [queue.cohort for queue in self.cluster.queues.values() if queue.cohort]
        above = {cohort.parent for cohort in self.cluster.cohorts.values() if cohort.parent}
        declared = {*self.cluster.cohorts, *above}
        lone = {
            queue.cohort: name for name, queue in self.cluster.queues.items() if members.count(queue.cohort or "") == 1
        }
        for cohort, name in lone.items():
            others = {member for member in (*members, *self.cluster.cohorts) if member != cohort}
            if cohort is None or not others or cohort in declared:
                continue
            meant = did_you_mean(cohort, others)
            twin = next((other for other in lone if other and meant == did_you_mean(cohort, [other])), None)
            pair = twin is not None and twin not in declared and meant.startswith("did you mean")
            if pair and list(lone).index(twin) > list(lone).index(cohort):
                continue
            idle = idle_fields(self.cluster.queues[name])
            effect = f", so its {idle[0]} has no effect" if idle else ""
            message = f"queue {name!r} is the only one in cohort {cohort!r}{effect}; {meant}"
            shared: list[Path] = [("queues", lone[twin], "cohort")] if pair else []
            yield COHORT.at(self.source, ("queues", name, "cohort"), message, shared=shared)


def idle_fields(queue: Queue) -> list[str]:
    """Return the fields of a queue that act between the queues of a cohort alone."""
    limits = {"borrowingLimit": queue.borrowing_limit, "lendingLimit": queue.lending_limit}
    found = [field for field, limit in limits.items() if limit]
    return [*found, *(["reclaimWithinCohort"] if queue.preemption.reclaim_within_cohort != "Never" else [])]
