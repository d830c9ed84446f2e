"""Whether queue and nodes can hold a run as its patches leave it: Kueue and the scheduler count what is rendered.

Sizes of the job's own fields are judged before; here it is the patch that makes of a run what nothing can hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from trainyard import kinds
from trainyard.documents import Document, Path
from trainyard.findings import Finding
from trainyard.kinds import Resolved
from trainyard.labels import POOL
from trainyard.manifests import Manifest
from trainyard.pods.resources import EPHEMERAL_STORAGE
from trainyard.policies.amounts import Need
from trainyard.policies.capacity import holds
from trainyard.policies.places import Place
from trainyard.policies.world import World
from trainyard.preflight import ceiling, origins, size
from trainyard.rules import Rule
from trainyard.sizing import WORKER
from trainyard.sizing.machines import machine

PATCHED = Rule(
    id="run/patch-size",
    title="Pods that patches make larger or more still fit the nodes of their pool.",
    why="the scheduler finds no node for them, or too few, while the run holds its quota",
    fix="lower what the patch asks for, or use the job's own fields, of which the rest of the pod follows",
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


def check(run: Resolved, plain: Sequence[Finding]) -> Iterator[Finding]:
    """Yield what a run asks for as its patches leave it and nothing can hold: none of what they take away.

    `plain` is what its queue could not hold without patches.
    """
    found = list(excesses(run))
    if any(each.rule is ceiling.MAX_QUOTA for each in found):
        yield from plain
    known = {each.key for each in excesses(with_first(run, 0))}
    more = [each for each in found if each.key not in known]
    for each in [one for one in more if one.rule is PATCHED] or more[:1]:
        yield each.rule.at(run.run.source, path(run, culprit(run, each), each.place), each.message)


def culprit(run: Resolved, excess: Excess) -> int | None:
    """Return the patch with which something is too much."""
    return first(run, lambda some: excess.key in {each.key for each in excesses(some)})


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
    manifests = tuple(Manifest(Document("", 0, value), value) for value in values)
    least, worker = run.run.job.min_nodes, run.kind.called(WORKER)
    found = []
    for job in World(manifests, complete=False).training_jobs():
        pods = job.pod_sets()
        for each in pods:
            selector = each.spec.get("nodeSelector")
            pool = selector.get(POOL) if isinstance(selector, Mapping) else None
            if pool in pools:
                elastic = least is not None and (each.name == worker or len(pods) == 1)
                count = min(each.count, least) if elastic and least is not None else each.count
                found.append(Set(str(pool), count, each.needs))
    return found


def excesses(run: Resolved) -> Iterator[Excess]:
    """Yield what of a run is more than a node has, than its pools have, or than its queue can ever have."""
    total: dict[str, dict[str, Need]] = defaultdict(dict)
    for each in sets(run):
        node = machine(run.run.cluster, each.pool).for_jobs
        wide = [name for name, need in each.needs.items() if name in node and Fraction(need.amount) > node[name]]
        for name in wide:
            asks, has = (size.shown(name, amount) for amount in (each.needs[name].amount, node[name]))
            message = f"a patched pod asks for {asks} {name}, but pool {each.pool!r} has {has} a node; lower it"
            yield Excess(PATCHED, each.pool, name, message, each.needs[name].place)
        if not wide:
            yield from too_many(run, each)
        for name, need in each.needs.items():
            if name != EPHEMERAL_STORAGE or name not in wide:
                before = total[each.pool].get(name)
                amount = need.amount * each.count + (before.amount if before else Decimal())
                total[each.pool][name] = Need(amount, larger(need, before))
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
        name = max(shares, key=lambda each: shares[each])
        message = (
            f"{pods.count} patched pods fit {fits} to a node, but pool {pods.pool!r} has {nodes} nodes; lower {name}"
        )
        yield Excess(PATCHED, pods.pool, name, message, pods.needs[name].place)


def over_quota(run: Resolved, pool: str, asked: Mapping[str, Need]) -> Iterator[Excess]:
    """Yield what all pods on a pool ask for together and the queue can never have."""
    most = ceiling.ceiling(run.run, pool)
    for name in sorted(asked, key=lambda name: "/" not in name):
        if name in most and asked[name].amount > most[name]:
            need, has = (ceiling.shown(name, amount) for amount in (asked[name].amount, most[name]))
            queue = run.run.job.queue
            message = f"patched pods need {need} {name}, but queue {queue!r} can never have more than {has} of {pool!r}"
            yield Excess(ceiling.MAX_QUOTA, pool, name, message, asked[name].place)
