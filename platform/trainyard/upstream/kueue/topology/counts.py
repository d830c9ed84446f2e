"""How many pods and slices each domain has room for: counted at the leaves, summed towards the top.

Source: kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go fillInCounts, fillInCountsHelper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from trainyard.upstream.kueue.topology.ask import Ask
from trainyard.upstream.kueue.topology.tree import Tree


@dataclass(slots=True)
class Counts:
    """By domain, the room for pods; later, how many it gets."""

    pods: list[int]
    slices: list[int]
    led_pods: list[int]
    """Pods beside the leader of the group."""
    led_slices: list[int]
    leaders: list[int]
    """1 where the leader has room."""
    score: list[int]
    """Weight of the preferred node affinities that the nodes meet."""

    @staticmethod
    def of(tree: Tree) -> Counts:
        """Return the counts of a tree without any room."""
        size = len(tree.values)
        return Counts(*([0] * size for _ in range(6)))

    def copy(self) -> Counts:
        """Return counts that can be changed without changing these."""
        every = (self.pods, self.slices, self.led_pods, self.led_slices, self.leaders, self.score)
        return Counts(*(numbers[:] for numbers in every))

    def lent(self, *, led: bool) -> Counts:
        """Return counts that can be given out to pods without changing these; without a leader only pods change."""
        if led:
            return self.copy()
        return Counts(self.pods[:], self.slices[:], self.led_pods, self.led_slices, self.leaders, self.score)

    def clear(self, domain: int) -> None:
        """Take all room from one domain."""
        self.pods[domain] = self.slices[domain] = 0
        self.clear_leader(domain)

    def clear_leader(self, domain: int) -> None:
        """Take the room of the leader from one domain."""
        self.led_pods[domain] = self.led_slices[domain] = self.leaders[domain] = 0


def cut(counts: Counts, leaves: Iterable[int], ask: Ask) -> None:
    """Count the slices of leaves where slices stand at the lowest level."""
    for leaf in leaves:
        counts.slices[leaf] = counts.pods[leaf] // ask.size
        counts.led_slices[leaf] = counts.led_pods[leaf] // ask.size


def sum_up(tree: Tree, counts: Counts, ask: Ask) -> None:
    """Count all domains, given the pods of the leaves."""
    start = tree.leaves.start
    if ask.slice_level == len(tree.levels) - 1:
        if ask.size == 1:
            counts.slices[start:], counts.led_slices[start:] = counts.pods[start:], counts.led_pods[start:]
        else:
            cut(counts, tree.leaves, ask)
    for level in range(len(tree.levels) - 2, -1, -1):
        if ask.leaders or ask.inner:
            for domain in tree.at[level]:
                sum_children(tree, counts, ask, domain, level, ask.inner)
        else:
            sum_level(tree, counts, ask, level)


def sum_level(tree: Tree, counts: Counts, ask: Ask, level: int) -> None:
    """Count the domains of a level, given those below it, where there is neither a leader nor more than one layer."""
    here = slice(tree.at[level].start, tree.at[level].stop)
    bounds = [slice(children.start, children.stop) for children in tree.children[here]]
    pods = [sum(counts.pods[bound]) for bound in bounds]
    if level == ask.slice_level:
        slices = pods if ask.size == 1 else [pod // ask.size for pod in pods]
    else:
        slices = [sum(counts.slices[bound]) for bound in bounds]
    counts.pods[here] = counts.led_pods[here] = pods
    counts.slices[here] = counts.led_slices[here] = slices
    counts.score[here] = [sum(counts.score[bound]) for bound in bounds]


def sum_children(tree: Tree, counts: Counts, ask: Ask, domain: int, level: int, inner: Mapping[int, int]) -> None:
    """Count one domain, given its children; with slices below its level, pods come in multiples.

    The leader costs as many pods, or slices, as it costs the child that it costs least.
    """
    children = slice(tree.children[domain].start, tree.children[domain].stop)
    pods, slices = counts.pods[children], counts.slices[children]
    if size := inner.get(level + 1):
        pods = [pod // size * size for pod in pods]
    total, cuts = sum(pods), sum(slices)
    led_total, led_cuts = total, cuts
    if ask.leaders:
        led_pods = counts.led_pods[children]
        if size:
            led_pods = [led_pod // size * size for led_pod in led_pods]
        leaders = counts.leaders[children]
        counts.leaders[domain] = max(leaders)
        able = [index for index, leader in enumerate(leaders) if leader]
        led_slices = counts.led_slices[children]
        led_total = total - min(pods[child] - led_pods[child] for child in able) if able else 0
        led_cuts = cuts - min(slices[child] - led_slices[child] for child in able) if able else 0
    if level == ask.slice_level:
        cuts, led_cuts = total // ask.size, led_total // ask.size
    counts.pods[domain], counts.slices[domain] = total, cuts
    counts.led_pods[domain], counts.led_slices[domain] = led_total, led_cuts
    counts.score[domain] = sum(counts.score[children])
