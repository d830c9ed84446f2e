"""Whether a queue can ever hold a job: what the job asks for against all that the queue may have at its best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from trainyard.base.findings import Finding
from trainyard.base.quantities import Quantity
from trainyard.base.rules import Rule
from trainyard.base.system.once import once
from trainyard.render.kinds import Resolved
from trainyard.render.sizing import WORKER, pod_requests
from trainyard.render.sizing.machines import machine
from trainyard.render.sizing.node import binary
from trainyard.render.sizing.quota import amounts
from trainyard.specs import Cluster, Quota
from trainyard.specs.run import Run
from trainyard.upstream.pods.resources import EPHEMERAL_STORAGE, in_bytes

MAX_QUOTA = Rule(
    id="kq-max-quota",
    title="A job needs at most what its queue can ever give it.",
    why="Kueue keeps a workload pending for ever if it exceeds nominal quota plus borrowing limit",
    fix="use fewer nodes or GPUs, or raise the queue's quota or borrowing limit",
    source="kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go",
    layer="queueing",
)


def check(run: Resolved) -> Iterator[Finding]:
    """Yield the first resource of each pool, GPUs before others, that the job needs more of than its queue can have.

    An elastic job may be admitted with its fewest nodes.
    """
    for pool, needs in needed_amounts(run).items():
        most = ceiling(run.run, pool)
        for name in sorted(needs, key=lambda name: "/" not in name):
            if name in most and needs[name] > most[name]:
                need, has = (in_words(name, found[name]) for found in (needs, most))
                message = (
                    f"job needs {need} {name}, but queue {run.run.job.queue!r} can have at most {has} of pool {pool!r}"
                    "; use less"
                )
                yield MAX_QUOTA.at(run.run.source, ("queue",), message)
                break


def in_words(name: str, amount: Decimal) -> str:
    """Write an amount for a sentence."""
    return binary(amount) if in_bytes(name) and amount else f"{amount.normalize():f}"


def needed_amounts(run: Resolved) -> dict[str, dict[str, Decimal]]:
    """Return the sum of the requests of all pods, by pool."""
    found: dict[str, dict[str, Decimal]] = {}
    least = run.run.job.min_nodes
    for role, spec in zip(run.sizing.roles, run.specs, strict=True):
        count = least if role.name == WORKER and least is not None else spec.pods
        total = found.setdefault(role.pool, defaultdict(Decimal))
        disk = machine(run.run.cluster, role.pool).for_jobs[EPHEMERAL_STORAGE]
        for name, amount in pod_requests(run.run.job, role).items():
            if name != EPHEMERAL_STORAGE or amount <= disk:  # that no node has as much is said at `scratch`
                total[name] += amount * count
    return found


def ceiling(run: Run, pool: str) -> Mapping[str, Decimal]:
    """Return the most of each resource of a pool that the job's queue can have; nothing where loading said it has none.

    That is its own quota, and what it may borrow: at most its limit, and at most what all others have.
    """
    queue = run.cluster.queues.get(run.job.queue)
    there = queue is not None and pool in queue.nominal_quota
    return most(run.cluster, run.job.queue, pool) if there else {}


@once
def most(cluster: Cluster, queue_name: str, pool: str) -> Mapping[str, Decimal]:
    """Return the most of each resource of a pool that a queue can have."""
    queue = cluster.queues[queue_name]

    def of(quotas: Iterable[Quota]) -> dict[str, Decimal]:
        total: dict[str, Decimal] = defaultdict(Decimal)
        for quota in quotas:
            for name, text in amounts(cluster, pool, quota).items():
                total[name] += Quantity.parse(text).amount
        return total

    own = [queue.nominal_quota[pool]]
    if queue.cohort is None:
        return of(own)
    every = [one_queue.nominal_quota.get(pool) for one_queue in cluster.queues.values()]
    every += [cohort.nominal_quota.get(pool) for cohort in cluster.cohorts.values()]
    whole = of(quota for quota in every if quota is not None)
    limit = queue.borrowing_limit.get(pool)
    best = whole if limit is None else of([*own, limit])
    return {name: min(amount, best[name]) for name, amount in whole.items()}
