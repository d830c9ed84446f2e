"""Which nodes of a topology pods may run on, and how many are left out by what.

Only nodes are asked, so all leaves count where the lowest level is wider than a host.
Source: kueue v0.19.2 pkg/cache/scheduler/scheduling_simulator_default.go, pkg/podset/podset.go Merge.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.upstream.kueue.model.nodes import Node
from trainyard.upstream.kueue.model.placements import PlacementRequest
from trainyard.upstream.kueue.topology.ask import Unplaced
from trainyard.upstream.kueue.topology.tree import Tree
from trainyard.upstream.pods.selection import affinity_of, has_labels, meets, meets_term, required_of
from trainyard.upstream.pods.taints import Toleration, untolerated_taint

SPECS = 4096
"""Specifications of pods that are remembered."""

SELECTOR, AFFINITY = "nodeSelector", "affinity"


@dataclass(frozen=True, slots=True)
class Matches:
    """The leaves on which pods may run."""

    open: Sequence[int] | None
    """By leaf, 1 where they may and 0 where not; None where they may on all."""
    scores: Sequence[int] | None
    """By leaf, the weight of the preferred affinities that its node meets; None where these do not count."""
    excluded: Mapping[str, int]
    """How many nodes are left out, by what Kueue calls the cause."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What pods ask of their nodes."""

    selector: Mapping[str, str]
    required: Mapping[str, Any] | None
    preferred: Sequence[Mapping[str, Any]]
    tolerations: tuple[Toleration, ...]

    def cause(self, node: Node) -> str | None:
        """Return the cause that leaves a node out, None where nothing does."""
        taint = untolerated_taint(node.taints, self.tolerations)
        if taint is not None:
            return f'taint "{taint}"'
        if not has_labels(self.selector, node.labels):
            return SELECTOR
        if self.required is not None and not meets(self.required, node.name, node.labels):
            return AFFINITY
        return None

    def score(self, node: Node) -> int:
        """Return the weight of the preferred affinities that a node meets."""
        return sum(
            term.get("weight", 0)
            for term in self.preferred
            if meets_term(term.get("preference") or {}, node.name, node.labels)
        )


class Filters:
    """Filters on one tree; each is asked once, since nodes do not change."""

    def __init__(self, tree: Tree, tolerations: tuple[Toleration, ...], *, scored: bool) -> None:
        """Take the tolerations of the flavor; with `scored` preferred affinities count."""
        self.tree, self.tolerations, self.scored = tree, tolerations, scored
        self.known: dict[str, Matches] = {}
        self.plain: dict[int, tuple[Mapping[str, Any], Matches]] = {}
        """What specifications that nobody adds to match, with the specification by whose identity it is."""
        self.all = Matches(None, None, {})

    def matches(self, request: PlacementRequest) -> Matches:
        """Return the leaves for the pods of a request; raises Unplaced for contradicting node selectors."""
        if request.selectors or request.tolerations:
            return self._matches(request)
        known = self.plain.get(id(request.spec))
        if known is None:
            if len(self.plain) >= SPECS:
                self.plain.clear()
            known = self.plain[id(request.spec)] = request.spec, self._matches(request)
        return known[1]

    def _matches(self, request: PlacementRequest) -> Matches:
        selector, more = selector_of(request), request.tolerations
        if not self.tree.by_host:
            return self.all
        spec = request.spec
        affinity = affinity_of(spec)
        key = json.dumps(
            [selector, affinity, spec.get("tolerations"), [str(toleration) for toleration in more]],
            sort_keys=True,
            default=str,
        )
        found = self.known.get(key)
        if found is None:
            tolerations = (*map(Toleration.read, spec.get("tolerations") or ()), *more, *self.tolerations)
            preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") if self.scored else None
            found = self.known[key] = self._asked(Filter(selector, required_of(spec), preferred or (), tolerations))
        return found

    def _asked(self, wanted: Filter) -> Matches:
        nodes = [node for node, *_ in self.tree.nodes]
        causes = [wanted.cause(node) for node in nodes]
        excluded = Counter(cause for cause in causes if cause is not None)
        scores = None
        if wanted.preferred:
            scores = [0 if cause else wanted.score(node) for node, cause in zip(nodes, causes, strict=True)]
        return Matches([int(cause is None) for cause in causes] if excluded else None, scores, excluded)


def selector_of(request: PlacementRequest) -> dict[str, str]:
    """Return the node selector with what admission checks add; raises Unplaced where they contradict it."""
    selector = dict(request.spec.get("nodeSelector") or {})
    for more in request.selectors:
        for key, value in more.items():
            if selector.setdefault(key, value) != value:
                why = f"conflict for nodeSelector: conflict for key={key}, value1={selector[key]}, value2={value}"
                message = (
                    f"invalid podSetUpdate for PodSet {request.pod_set.name}, error: invalid podset updates: {why}"
                )
                raise Unplaced(message)
    return selector
