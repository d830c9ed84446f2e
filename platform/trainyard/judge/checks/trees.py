"""Judges the trees of clusters, of which nothing is judged again that is remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from trainyard.base.memory import CODE, Memory
from trainyard.base.system import reads
from trainyard.base.system.data import policy_files
from trainyard.base.system.repository import cluster_file
from trainyard.judge.checks import parallel
from trainyard.judge.checks.checking import Checking, Fresh
from trainyard.judge.checks.result import Result
from trainyard.judge.checks.verdicts import Known, Parts, join_known
from trainyard.judge.policies.policy import usable

Watch = Callable[[float], None]
"""Is told the share that is done."""


def unwatched(_: float) -> None:
    """Tell nobody."""


def judge_trees(checking: Checking, names: Sequence[str], watch: Watch = unwatched) -> Result:
    """Judge the trees of clusters together."""
    result = Result()
    for found in each_tree(checking, names, watch):
        result.extend(found)
    return result


def each_tree(checking: Checking, names: Sequence[str], watch: Watch = unwatched) -> Iterator[Result]:
    """Judge the trees of clusters one by one, and remember what is said of them; of what is known nothing is judged."""
    world = checking.memory.world
    if world is None:
        for fresh in judge_each(checking, dict.fromkeys(names), watch):
            yield checking.finish(fresh.result)
        return
    with reads.recording(world) as record:
        reads.ask(CODE, "")
        named = {name: checking.parts(name) for name in names}
        known = {name: load_known(name, found, checking.memory) for name, found in named.items()}
        asked = {name: found for name, found in known.items() if not is_whole(named[name], found)}
        judged = dict(zip(asked, judge_each(checking, asked, watch), strict=True))
    for name, found in known.items():
        if name in judged:
            if (of_cluster := named[name]) is not None:
                result, unsteady, compared = judged[name]
                seen = record.reads_of(cluster_file(name))
                of_cluster.keep(checking.memory, seen, result, unsteady=unsteady, compares=compared)
            yield checking.finish(judged[name].result)
        elif found is not None:
            yield checking.finish(join_known(found, Result()))


def load_known(name: str, parts_of: Parts | None, memory: Memory) -> Known | None:
    """Return the remembered verdicts on a cluster's tree that still hold."""
    with reads.about(cluster_file(name)):
        return None if parts_of is None else parts_of.load(memory)


def is_whole(parts_of: Parts | None, known: Known | None) -> bool:
    """Say whether everything about a cluster's tree is known."""
    return known is not None and parts_of is not None and known.runs == frozenset(parts_of.runs)


def judge_each(checking: Checking, known: Mapping[str, Known | None], watch: Watch) -> Iterator[Fresh]:
    """Judge clusters, of which some things are known, one by one; large ones with a process for each core."""
    if not known:
        return
    policies, names = usable(policy_files(checking.home)), list(known)

    def judge(name: str) -> Fresh:
        return checking.cluster(name, known[name], policies)

    if len(names) < 2 or not parallel.is_much(sum(map(checking.size, names))):
        for number, name in enumerate(names, 1):
            yield judge(name)
            watch(number / len(names))
        return
    for number, (fresh, seen) in enumerate(parallel.each(names, partial(reads.heard, judge, reads.digests())), 1):
        reads.join(seen)
        yield fresh
        watch(number / len(names))
