"""Pods that must be near others, or away from them, and pods that must be spread.

Source: kubernetes v1.35.4 pkg/scheduler/framework/plugins/interpodaffinity/filtering.go,
podtopologyspread/common.go, podtopologyspread/filtering.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.upstream.pods.selection import meets, required_of, selects
from trainyard.upstream.pods.taints import untolerated_taint
from trainyard.upstream.scheduler.hosts import Host
from trainyard.upstream.scheduler.wanted import Wanted

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"
SPREAD = "node(s) didn't match pod topology spread constraints"
LABEL = "node(s) didn't match pod topology spread constraints (missing required label)"

HONOR = "Honor"

Term = Mapping[str, Any]


class Neighbours:
    """What the pods on all nodes mean for one more of a kind, until another is placed."""

    def __init__(self, wanted: Wanted, hosts: Iterable[Host]) -> None:
        """Count the pods on nodes."""
        self.wanted = wanted
        self.near: Counter[tuple[str, str]] = Counter()
        self.away: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[tuple[str, str]] = Counter()
        self.counts: list[Counter[str]] = [Counter() for _ in wanted.spread]
        for host in hosts:
            for pod in host.pods:
                self._meet(host, pod)
            self._count(host)

    def _meet(self, host: Host, pod: Wanted) -> None:
        wanted, labels = self.wanted, host.labels
        if wanted.affine and all(matches(term, wanted, pod) for term in wanted.affine):
            self.near.update(pairs(wanted.affine, labels))
        self.away.update(pairs((term for term in wanted.averse if matches(term, wanted, pod)), labels))
        self.refused.update(pairs((term for term in pod.averse if matches(term, pod, wanted)), labels))

    def _count(self, host: Host) -> None:
        wanted = self.wanted
        if any(constraint.get("topologyKey", "") not in host.labels for constraint in wanted.spread):
            return
        for rule, counts in zip(wanted.spread, self.counts, strict=True):
            if is_included(rule, wanted, host):
                counts[host.labels[rule["topologyKey"]]] += alike(rule, wanted, host)

    def against(self, host: Host) -> str | None:
        """Return the scheduler's objection to a node, None where it has none."""
        for rule, counts in zip(self.wanted.spread, self.counts, strict=True):
            value = host.labels.get(rule.get("topologyKey", ""))
            if value is None:
                return LABEL
            least = min(counts.values(), default=0) if len(counts) >= (rule.get("minDomains") or 1) else 0
            if counts[value] + spreads(rule, self.wanted, self.wanted) - least > rule.get("maxSkew", 1):
                return SPREAD
        if not self._in_company(host):
            return AFFINITY
        if any(self.away[pair] for pair in pairs(self.wanted.averse, host.labels)):
            return ANTI_AFFINITY
        return EXISTING if any(self.refused[pair] for pair in host.labels.items() if self.refused) else None

    def _in_company(self, host: Host) -> bool:
        """Whether the pods that it must be near are there; the first of a kind that wants its own need not find any."""
        terms = self.wanted.affine
        found = list(pairs(terms, host.labels))
        if len(found) < len(terms):
            return False
        first = not self.near and all(matches(term, self.wanted, self.wanted) for term in terms)
        return first or all(self.near[pair] for pair in found)


def pairs(terms: Iterable[Term], labels: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Yield the label of each term that a node has."""
    return ((key, labels[key]) for term in terms if (key := term.get("topologyKey", "")) in labels)


def matches(term: Term, whose: Wanted, pod: Wanted) -> bool:
    """Whether a term of a pod is about another one."""
    names, chosen = term.get("namespaces") or (), term.get("namespaceSelector")
    own = (whose.namespace,) if not names and chosen is None else ()
    there = pod.namespace in (*names, *own) or selects(chosen, pod.around)
    return there and selects(with_keys(term, whose), pod.labels)


def spreads(rule: Term, whose: Wanted, pod: Wanted) -> bool:
    """Whether a pod counts for a constraint of another one."""
    return selects(selector(rule, whose), pod.labels)


def alike(rule: Term, wanted: Wanted, host: Host) -> int:
    """Return how many pods on a node a constraint of others counts; an empty selector counts none."""
    if not selector(rule, wanted):
        return 0
    return sum(pod.namespace == wanted.namespace and spreads(rule, wanted, pod) for pod in host.pods)


def selector(rule: Term, whose: Wanted) -> Mapping[str, Any] | None:
    """Return whom a constraint counts."""
    return with_keys(rule, whose)


def with_keys(term: Term, whose: Wanted) -> Mapping[str, Any] | None:
    """Return the selector of a term with the labels of its own pod that it names (matchLabelKeys)."""
    found: Mapping[str, Any] | None = term.get("labelSelector")
    values = ((key, whose.labels.get(key)) for key in term.get("matchLabelKeys") or ())
    more = [{"key": key, "operator": "In", "values": [value]} for key, value in values if value is not None]
    values = ((key, whose.labels.get(key)) for key in term.get("mismatchLabelKeys") or ())
    more += [{"key": key, "operator": "NotIn", "values": [value]} for key, value in values if value is not None]
    if found is None or not more:
        return found
    return {**found, "matchExpressions": [*(found.get("matchExpressions") or ()), *more]}


def is_included(rule: Term, wanted: Wanted, host: Host) -> bool:
    """Whether a node's pods count for a constraint."""
    if rule.get("nodeAffinityPolicy", HONOR) == HONOR:
        selected = wanted.spec.get("nodeSelector") or {}
        required = required_of(wanted.spec)
        fits = all(host.labels.get(key) == value for key, value in selected.items())
        if not fits or not (required is None or meets(required, host.name, host.labels)):
            return False
    return rule.get("nodeTaintsPolicy") != HONOR or untolerated_taint(host.taints, wanted.tolerations) is None
