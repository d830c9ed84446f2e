"""Whether idle nodes can be tested at night, and whether every run takes its quota back from the test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.cluster.schedules import times
from trainyard.judge.preflight.job.placement import POOL as UNKNOWN_POOL
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.clusters.platform import cohorts
from trainyard.render.operators.kueue import Kueue, shares_fairly
from trainyard.render.sizing.burn_in import MARKER, NAME, priority, stated, tested_pools, why_not
from trainyard.specs import Cluster, Queue
from trainyard.specs.models.health import BurnIn
from trainyard.specs.sources import Source

BURN_IN = Rule(
    id="spec/burn-in",
    title="A test of idle nodes has nodes, quota that it can borrow, and a time.",
    why="no node is ever tested, and nothing says so",
    fix="name a cohort with quota of the pools, pools of whole GPUs and fixed size, and a schedule such as '0 1 * * *'",
    source="docs/health.md",
    layer="spec",
)
WAITS = Rule(
    id="kq-burn-in",
    title="Every run takes its quota back from the test of idle nodes.",
    why="a queue that cannot preempt the test waits until it ends, for up to an hour",
    fix="set the named fields of preemption; waive this if the queue may wait",
    source="kueue v0.19.2 pkg/scheduler/preemption/preemption.go",
    layer="queueing",
    severity=Severity.WARNING,
    may_waive=True,
)
AT: Path = ("health", "burnIn")


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield fields that keep the test from any node, and queues whose runs it would keep waiting."""
    said = stated(cluster)
    if said is None:
        return
    if Kueue.name not in cluster.operators:
        yield BURN_IN.at(source, AT, "burnIn needs Kueue, which admits the test; add kueue to operators", key=True)
    yield from names(cluster, source, said)
    yield from times(BURN_IN, source, AT, said, "0 1 * * *")
    if said.cohort not in cohorts(cluster):
        guess = did_you_mean(said.cohort, cohorts(cluster))
        yield BURN_IN.at(source, (*AT, "cohort"), f"cohort {said.cohort!r} does not exist; {guess}")
        return
    yield from pools(cluster, source, said)
    yield from waiting(cluster, source, said)


def names(cluster: Cluster, source: Source, said: BurnIn) -> Iterator[Finding]:
    """Yield queues, priorities and teams with the name of the test, and pools that do not exist."""
    taken: dict[str, tuple[str, Mapping[str, object]]] = {
        "queue": ("queues", cluster.queues),
        "priority": ("priorities", cluster.priorities),
    }
    for what, (field, there) in taken.items():
        if NAME in there:
            message = f"{what} {NAME!r} has the name that the burn-in needs; rename it"
            yield BURN_IN.at(source, (field, NAME), message, key=True)
    for team in (team for team in cluster.teams() if cluster.namespace_of(team) in {NAME, MARKER}):
        message = f"team {team!r} has the namespace that the burn-in needs; rename it"
        yield BURN_IN.at(source, AT, message, key=True)
    for index, name in enumerate(said.pools):
        if name not in cluster.pools:
            message = f"pool {name!r} does not exist; {did_you_mean(name, cluster.pools)}"
            yield UNKNOWN_POOL.at(source, (*AT, "pools", index), message)


def pools(cluster: Cluster, source: Source, said: BurnIn) -> Iterator[Finding]:
    """Yield pools that are named and cannot be tested; the whole test where no pool can be."""
    for index, name in enumerate(said.pools):
        why = why_not(cluster, name) if name in cluster.pools else None
        if why is not None:
            yield BURN_IN.at(source, (*AT, "pools", index), f"pool {name!r} {why}; remove it")
    if not said.pools and not tested_pools(cluster):
        message = f"no pool of whole GPUs and fixed size has quota in cohort {said.cohort!r}; remove burnIn"
        yield BURN_IN.at(source, AT, message, key=True)


def waiting(cluster: Cluster, source: Source, said: BurnIn) -> Iterator[Finding]:
    """Yield queues of the test's cohorts whose runs do not preempt it: within their quota, or beyond it.

    With fair sharing the test has no weight, so that a queue that reclaims takes from it in both cases.
    """
    tested = set(tested_pools(cluster))
    for name, queue in cluster.queues_of("kueue").items():
        if queue.cohort is None or root(cluster, queue.cohort) != root(cluster, said.cohort):
            continue
        if not tested & queue.nominal_quota.keys():
            continue
        at: Path = ("queues", name)
        if queue.preemption.reclaim_within_cohort == "Never":
            message = f"runs of queue {name!r} wait for the burn-in; set preemption.reclaimWithinCohort: LowerPriority"
            yield WAITS.at(source, at, message, key=True)
        elif not shares_fairly(cluster) and not takes_beyond(cluster, queue, tested):
            threshold = f"{{policy: LowerPriority, maxPriorityThreshold: {priority(cluster)}}}"
            message = f"runs of queue {name!r} that borrow wait for the burn-in; set borrowWithinCohort: {threshold}"
            yield WAITS.at(source, at, message, key=True)


def takes_beyond(cluster: Cluster, queue: Queue, tested: set[str]) -> bool:
    """Whether runs of a queue preempt the test where they borrow, or cannot borrow at all."""
    limits = queue.borrowing_limit
    if all(pool in limits and not any(limits[pool].model_dump().values()) for pool in tested & {*queue.nominal_quota}):
        return True
    own = queue.preemption.borrow_within_cohort or {}
    threshold = own.get("maxPriorityThreshold")
    return own.get("policy", "Never") == "LowerPriority" and (threshold is None or threshold >= priority(cluster))


def root(cluster: Cluster, cohort: str) -> str:
    """Return the highest cohort above one."""
    seen = {cohort}
    while (own := cluster.cohorts.get(cohort)) is not None and own.parent is not None and own.parent not in seen:
        cohort = own.parent
        seen.add(cohort)
    return cohort
