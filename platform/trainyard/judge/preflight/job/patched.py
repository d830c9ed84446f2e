"""Whether queue and nodes can hold a run as its patches leave it: Kueue and the scheduler count what is rendered.

Sizes of the job's own fields are judged before; here it is the patch that makes of a run what nothing can hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.manifests import unplaced
from trainyard.base.pools import selected_pools
from trainyard.base.rules import Rule
from trainyard.judge.policies.amounts import Need
from trainyard.judge.policies.capacity import holds
from trainyard.judge.policies.places import Place
from trainyard.judge.policies.world import World
from trainyard.judge.preflight.declared import ALL
from trainyard.judge.preflight.job import ceiling, origins, size
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render import kinds
from trainyard.render.kinds import Resolved
from trainyard.render.sizing import WORKER
from trainyard.render.sizing.machines import machine
from trainyard.upstream.pods.resources import EPHEMERAL_STORAGE

PATCHED = Rule(
    id="run/patch-size",
    title="Pods that patches enlarge or add still fit the nodes of their pool.",
    why="otherwise the scheduler finds too few nodes, or none, while the run holds its quota",
    fix="lower the patch's requests, or use the job's own fields: other sizes then follow",
    source="kubernetes v1.35 pkg/scheduler/framework/plugins/noderesources/fit.go",
    layer="node",
)


@dataclass(frozen=True, slots=True)
class Set:
    """Equal pods of a run, as they are rendered."""

    pool: str
    count: int
    needs: Mapping[str, Need]


@dataclass(frozen=True, slots=True)
class Excess:
    """What nothing can hold, and where it is asked for."""

    rule: Rule
    pool: str
    resource: str
    message: str
    place: Place

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is about, whatever the amounts are."""
        return self.rule.id, self.pool, self.resource


@RESOLVED.check(after=(ALL,), otherwise=ceiling.check)
def check_held(run: Resolved) -> Iterator[Finding]:
    """Yield the parts of a run that its queue and nodes cannot hold."""
    plain = ceiling.check(run)
    return check(run, list(plain)) if run.run.job.patches else plain


def check(run: Resolved, plain: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings on requests that nothing can hold once patches are applied.

    `plain` is what its queue could not hold without patches.
    """
    found = list(excesses(run))
    if any(daemon.rule is ceiling.MAX_QUOTA for daemon in found):
        yield from plain
    known = {excess.key for excess in excesses(with_first(run, 0))}
    more = [daemon for daemon in found if daemon.key not in known]
    for excess in [one for one in more if one.rule is PATCHED] or more[:1]:
        yield excess.rule.at(run.run.source, path(run, culprit(run, excess), excess.place), excess.message)


def culprit(run: Resolved, excess: Excess) -> int | None:
    """Return the patch with which something is too much."""
    return first(run, lambda some: excess.key in {one_excess.key for one_excess in excesses(some)})


def with_first(run: Resolved, count: int) -> Resolved:
    """Return a run with the first of its patches alone."""
    job = run.run.job
    return replace(run, run=replace(run.run, job=job.model_copy(update={"patches": job.patches[:count]})))


def first(run: Resolved, is_wrong: Callable[[Resolved], bool]) -> int | None:
    """Return a patch with which a right run becomes wrong; None where it is so without any.

    All patches make it wrong. Halving the rest each time takes few renderings, however many patches there are.
    """
    if is_wrong(with_first(run, 0)):
        return None
    right, wrong = 0, len(run.run.job.patches)
    while wrong - right > 1:
        middle = (right + wrong) // 2
        if is_wrong(with_first(run, middle)):
            wrong = middle
        else:
            right = middle
    return wrong - 1


def path(run: Resolved, index: int | None, place: Place) -> Path:
    """Return the place in a patch that says most of a place in what is rendered."""
    if index is None:
        return ("patches",)
    return ("patches", index, "merge", *origins.in_merge(place, run.run.job.patches[index].merge))


def sets(run: Resolved) -> list[Set]:
    """Return the pods of a run as they are rendered, at best as few as may start; none on pools not its own.

    Of those that a patch sends elsewhere, policies on selectors speak.
    """
    pools = {role.pool_name for role in run.specs}
    values = (resource.value() for resource in kinds.build(run))
    manifests = tuple(map(unplaced, values))
    least, worker = run.run.job.min_nodes, run.kind.called(WORKER)
    found = []
    for job in World(manifests, complete=False).training_jobs():
        pods = job.pod_sets()
        for pod in pods:
            selected = selected_pools(pod.spec, run.run.cluster.selectors)
            pool = run.run.pool_name if run.run.pool_name in selected else next(iter(selected), None)
            if pool in pools:
                elastic = least is not None and (pod.name == worker or len(pods) == 1)
                count = min(pod.count, least) if elastic and least is not None else pod.count
                found.append(Set(str(pool), count, pod.needs))
    return found


def excesses(run: Resolved) -> Iterator[Excess]:
    """Yield the excesses of a run over a node, over its pools, or over its queue's highest quota."""
    total: dict[str, dict[str, Need]] = defaultdict(dict)
    for set_ in sets(run):
        node = machine(run.run.cluster, set_.pool).for_jobs
        wide = [name for name, need in set_.needs.items() if name in node and Fraction(need.amount) > node[name]]
        for name in wide:
            asks, has = (size.write_quantity(name, amount) for amount in (set_.needs[name].amount, node[name]))
            message = f"a patched pod requests {asks} {name}, but nodes of pool {set_.pool!r} have {has}; lower it"
            yield Excess(PATCHED, set_.pool, name, message, set_.needs[name].place)
        if not wide:
            yield from too_many(run, set_)
        for name, need in set_.needs.items():
            if name != EPHEMERAL_STORAGE or name not in wide:
                before = total[set_.pool].get(name)
                amount = need.amount * set_.count + (before.amount if before else Decimal())
                total[set_.pool][name] = Need(amount, larger(need, before))
    for pool, asked in total.items():
        yield from over_quota(run, pool, asked)


def larger(need: Need, before: Need | None) -> Place:
    """Return the place of what asks for more."""
    return need.place if before is None or need.amount > before.amount else before.place


def too_many(run: Resolved, pods: Set) -> Iterator[Excess]:
    """Yield pods of which all nodes of their pool together hold too few."""
    node, nodes = machine(run.run.cluster, pods.pool).for_jobs, run.run.cluster.pools[pods.pool].nodes
    fits = holds(node, pods.needs)
    if fits is not None and fits > 0 and pods.count > fits * nodes:
        shares = {name: Fraction(need.amount) / node[name] for name, need in pods.needs.items() if node.get(name)}
        name = max(shares, key=lambda share: shares[share])
        message = (
            f"a node fits {fits} of {pods.count} patched pods, but pool {pods.pool!r} has {nodes} nodes; lower {name}"
        )
        yield Excess(PATCHED, pods.pool, name, message, pods.needs[name].place)


def over_quota(run: Resolved, pool: str, asked: Mapping[str, Need]) -> Iterator[Excess]:
    """Yield the sums of all pods on a pool that are more than the queue can ever have."""
    most = ceiling.ceiling(run.run, pool)
    for name in sorted(asked, key=lambda name: "/" not in name):
        if name in most and asked[name].amount > most[name]:
            need, has = (ceiling.in_words(name, amount) for amount in (asked[name].amount, most[name]))
            queue = run.run.job.queue
            message = f"patched pods need {need} {name}, but queue {queue!r} can have at most {has} of pool {pool!r}"
            yield Excess(ceiling.MAX_QUOTA, pool, name, message, asked[name].place)
