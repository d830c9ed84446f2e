"""Which of the nodes that would do the scheduler takes, as it is installed: the one with the highest score.

Source: kubernetes v1.35.4 pkg/scheduler/apis/config/v1/default_plugins.go (weights), and scoring of the plugins in
pkg/scheduler/framework/plugins. What nodes have pulled (ImageLocality) and the Services of pods, by which pods that say
nothing are spread, are not known here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from trainyard.base.labels import HOSTNAME
from trainyard.upstream.kubelet.releases import is_since
from trainyard.upstream.pods.resources import CPU, MEMORY
from trainyard.upstream.pods.selection import affinity_of, meets_term
from trainyard.upstream.scheduler.hosts import Host, State
from trainyard.upstream.scheduler.neighbours import Term, alike, is_included, matches, pairs
from trainyard.upstream.scheduler.releases import BALANCED
from trainyard.upstream.scheduler.wanted import Wanted

MOST = 100
"""The highest score of a plugin."""

TAINTS, AFFINITY, SPREAD, NEIGHBOURS = 3, 2, 2, 2
"""What the scores of plugins count beside those of resources."""


def of_resources(state: State | None, wanted: Wanted) -> int:
    """Return the score of a node's free CPUs and memory: LeastAllocated and BalancedAllocation."""
    if state is None:
        return 0
    if wanted.form not in state.scores:
        state.scores[wanted.form] = least(state, wanted) + even(state, wanted)
    return state.scores[wanted.form]


def least(state: State, wanted: Wanted) -> int:
    """Return how much of CPUs and memory stays free, on the average."""
    offered = [state.offered(name) for name in (CPU, MEMORY)]
    found = [
        MOST * max(0, there - taken - own) // there
        for there, taken, own in zip(offered, state.assumed, wanted.assumed(state.minor), strict=True)
        if there
    ]
    return sum(found) // len(found) if found else 0


def even(state: State, wanted: Wanted) -> int:
    """Return how alike the parts of CPUs and memory are that are taken then; nothing for a pod that asks for none."""
    amounts = {name: wanted.amount(name) for name in (CPU, MEMORY)}
    if not any(amounts.values()):
        return 0
    there = evenness(state, amounts)
    if not is_since(state.minor, BALANCED):
        return there
    return MOST // 2 + (MOST // 2 + there - evenness(state, {})) // 2


def evenness(state: State, more: Mapping[str, int]) -> int:
    """Return how alike the parts of CPUs and memory are that are taken on a node, with so much more of them."""
    taken = [
        min(1.0, (offered - state.free(name) + more.get(name, 0)) / offered)
        for name in (CPU, MEMORY)
        if (offered := state.offered(name))
    ]
    return int((1 - (abs(taken[0] - taken[1]) / 2 if len(taken) == 2 else 0.0)) * MOST)


def of_nodes(wanted: Wanted, hosts: Sequence[Host], free: Sequence[Host]) -> list[int]:
    """Return the scores of nodes that would do, of all nodes."""
    wishes = of_wishes(wanted, hosts, free)
    return [of_resources(host.state, wanted) + more for host, more in zip(free, wishes, strict=True)]


def of_wishes(wanted: Wanted, hosts: Sequence[Host], free: Sequence[Host]) -> list[int]:
    """Return the scores of fitting nodes by preferences of the pod, and of the pods on all nodes."""
    found = [
        (TAINTS, scale_scores([count_unwanted(wanted, host) for host in free], turned=True)),
        (AFFINITY, scale_scores([preferred_weight(wanted, host) for host in free])),
        (SPREAD, spread(wanted, hosts, free)),
        (NEIGHBOURS, between(company(wanted, hosts, free))),
    ]
    return [sum(weight * scores[index] for weight, scores in found) for index in range(len(free))]


def count_unwanted(wanted: Wanted, host: Host) -> int:
    """Return how many taints a node has that would rather have no pods like this."""
    soft = [toleration for toleration in wanted.tolerations if toleration.effect in ("", "PreferNoSchedule")]
    taints = [taint for taint in host.taints if taint.effect == "PreferNoSchedule"]
    return sum(not any(toleration.tolerates(taint) for toleration in soft) for taint in taints)


def preferred_weight(wanted: Wanted, host: Host) -> int:
    """Return the weights of the terms of a preferred node affinity that a node meets."""
    terms = affinity_of(wanted.spec).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    return sum(term["weight"] for term in terms if meets_term(term["preference"], host.name, host.labels))


def scale_scores(counts: Sequence[int], *, turned: bool = False) -> list[int]:
    """Return counts as parts of the most of them, or what lacks to it (helper/normalize_score.go)."""
    most = max(counts, default=0)
    found = [MOST * count // most if most else 0 for count in counts]
    return [MOST - score for score in found] if turned else found


def between(counts: Sequence[int]) -> list[int]:
    """Return where counts lie between the least and the most of them (interpodaffinity/scoring.go)."""
    least, most = min(counts, default=0), max(counts, default=0)
    return [int(MOST * ((count - least) / (most - least))) if most > least else 0 for count in counts]


def nearness(wanted: Wanted, hosts: Iterable[Host]) -> Counter[tuple[str, str]]:
    """Return the weights that existing pods give to labels of nodes: by the pod's wishes, and by their own."""
    found: Counter[tuple[str, str]] = Counter()

    def count(terms: Iterable[tuple[int, Term]], whose: Wanted, about: Wanted, host: Host) -> None:
        for weight, term in terms:
            for pair in pairs([term] if matches(term, whose, about) else [], host.labels):
                found[pair] += weight

    for host in hosts:
        for pod in host.pods:
            count(wanted.wishes, wanted, pod, host)
            count(((1, term) for term in pod.affine), pod, wanted, host)
            count(pod.wishes, pod, wanted, host)
    return found


def company(wanted: Wanted, hosts: Iterable[Host], free: Sequence[Host]) -> list[int]:
    """Return the scores of nodes by the pods that are near them."""
    near = nearness(wanted, hosts)
    return [sum(near[pair] for pair in host.labels.items()) if near else 0 for host in free]


def spread(wanted: Wanted, hosts: Iterable[Host], free: Sequence[Host]) -> list[int]:
    """Return how few of the pods are near a node that should be spread (podtopologyspread/scoring.go)."""
    rules = wanted.spread_if_possible
    if not rules:
        return [0] * len(free)
    keys = [rule["topologyKey"] for rule in rules]
    counted = [host for host in free if all(key in host.labels for key in keys)]
    there = [host for host in hosts if all(key in host.labels for key in keys)]
    found = dict.fromkeys((host.name for host in counted), 0.0)
    for rule, key in zip(rules, keys, strict=True):
        by_host = key == HOSTNAME
        weight = math.log(len(counted if by_host else {host.labels[key] for host in counted}) + 2)
        near: Counter[str] = Counter()
        for host in there:
            if by_host or is_included(rule, wanted, host):
                near[host.name if by_host else host.labels[key]] += alike(rule, wanted, host)
        for host in counted:
            found[host.name] += near[host.name if by_host else host.labels[key]] * weight + rule["maxSkew"] - 1
    scores = {name: math.floor(score + 0.5) for name, score in found.items()}
    least, most = min(scores.values(), default=0), max(scores.values(), default=0)
    return [
        0 if host.name not in scores else MOST * (most + least - scores[host.name]) // most if most else MOST
        for host in free
    ]
