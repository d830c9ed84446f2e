"""Which domains pods are put into: the tightest that fit, or the fullest first where nothing is asked.

Source: kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go findLevelWithFitDomains, sortedDomains,
updateCountsToMinimumGeneric.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from trainyard.upstream.kueue.topology.ask import Ask, Unplaced
from trainyard.upstream.kueue.topology.counts import Counts
from trainyard.upstream.kueue.topology.messages import layered_shortfall, shortfall
from trainyard.upstream.kueue.topology.tree import Tree


@dataclass(slots=True)
class Search:
    """The search for a place for one group of pods."""

    topology: str
    tree: Tree
    counts: Counts
    ask: Ask
    fullest_first: bool
    """Whether domains with the least room come first, and not the tightest that fits."""
    scored: bool
    """Whether preferred affinities come before all."""
    why: Callable[[], str]
    """What is said of nodes that are left out."""
    fits_leaders: bool = True
    """Whether the leader of a group is thought of wherever a domain is chosen, as since Kueue 0.18.5."""

    def by_leader(self, domains: Iterable[int]) -> list[int]:
        """Sort domains: room for the leader, score, slices beside the leader, pods beside it, values."""
        counts = self.counts
        if not self.scored and not self.ask.leaders:
            return self.by_room(domains)
        sign = 1 if self.fullest_first else -1
        leaders, slices, pods = counts.leaders, counts.led_slices, counts.led_pods
        score = counts.score if self.scored else [0] * len(pods)
        return sorted(domains, key=lambda d: (-leaders[d], -score[d], sign * slices[d], pods[d], d))

    def by_room(self, domains: Iterable[int]) -> list[int]:
        """Sort domains: score, slices, pods, values."""
        counts = self.counts
        sign = 1 if self.fullest_first else -1
        slices, pods = counts.slices, counts.pods
        if self.scored:
            score = counts.score
            return sorted(domains, key=lambda d: (-score[d], sign * slices[d], pods[d], d))
        if isinstance(domains, range):
            here = slice(domains.start, domains.stop)
            if slices[here] == pods[here]:
                return sorted(domains, key=pods.__getitem__, reverse=sign < 0)
        return sorted(domains, key=lambda d: (sign * slices[d], pods[d], d))

    def tightest(self, domains: Sequence[int], need: int, leaders: int, *, slices: bool) -> int:
        """Return the domain with the least room that is enough, the first of several; the first if none is.

        Only domains of the first's score are looked at.
        """
        counts = self.counts
        room = (
            (counts.led_slices if leaders else counts.slices) if slices else counts.led_pods if leaders else counts.pods
        )
        best, least = domains[0], -1
        score = counts.score[best]
        for domain in domains:
            if self.scored and counts.score[domain] != score:
                break
            there = room[domain]
            if there >= need and (least < 0 or there < least) and self._leads(domain, leaders):
                best, least = domain, there
        return best

    def fitting(self, level: int) -> tuple[int, list[int]]:
        """Return the level on which pods fit, and domains that hold them all; raises Unplaced where there are none."""
        if not self.tree.at[level]:
            raise Unplaced(f"no topology domains at level: {self.tree.levels[level]}")
        single = self._scored(level) if self.scored else self._single(self.tree.at[level])
        if single is not None:
            return level, [single]
        if self.ask.required:
            order = self.by_leader(self.tree.at[level])
            raise self.refused(
                level, self.counts.pods[order[-1]] if self.fullest_first else self.counts.slices[order[0]]
            )
        if level and not self.ask.unconstrained:
            return self.fitting(level - 1)
        return level, self._several(self.by_leader(self.tree.at[level]), level)

    def _single(self, domains: range) -> int | None:
        """Return the domain with the least room that is enough, the first in Kueue's order, None where none is."""
        counts, ask = self.counts, self.ask
        if ask.leaders and not self.fits_leaders:
            return self._unled(domains)
        here = slice(domains.start, domains.stop)
        room, pods = counts.led_slices[here], counts.led_pods[here]
        if ask.leaders:
            room = [one_pods if leads else -1 for one_pods, leads in zip(room, counts.leaders[here], strict=True)]
        least = min(filter(ask.slices.__le__, room), default=None)
        if least is None:
            return None
        if room == pods:
            return domains.start + room.index(least)
        return domains.start + min((pod, at) for at, pod in enumerate(pods) if room[at] == least)[1]

    def _leads(self, domain: int, leaders: int) -> bool:
        return not self.fits_leaders or self.counts.leaders[domain] >= leaders

    def _unled(self, domains: range) -> int | None:
        """Return the same as a Kueue does that forgets the leader of a group where it looks for the tightest."""
        order = self.by_leader(domains)
        if self.fullest_first:
            return next((domain for domain in order if self.counts.slices[domain] >= self.ask.slices), None)
        if not self._holds_all(order[0]):
            return None
        found = self.tightest(order, self.ask.slices, self.ask.leaders, slices=True)
        return found if self._holds_all(found) else None

    def _holds_all(self, domain: int) -> bool:
        ask, counts = self.ask, self.counts
        return counts.led_slices[domain] >= ask.slices and counts.leaders[domain] >= ask.leaders

    def _scored(self, level: int) -> int | None:
        """Return the domain that is enough where scores come first, None where none is.

        Of those with the first's score the tightest counts; domains of lower scores where the level is required.
        """
        order = self.by_leader(self.tree.at[level])
        for index, domain in enumerate(order):
            if self._holds_all(domain):
                if self.fullest_first:
                    return domain
                return self.tightest(order[index:], self.ask.slices, self.ask.leaders, slices=True)
            if not self.fullest_first and not self.ask.required:
                return None
        return None

    def _several(self, order: list[int], level: int) -> list[int]:
        """Return as few domains as need be: that of the leader, then the largest, the tightest fit last."""
        counts, ask = self.counts, self.ask
        order = self.leader_first(order, ask.count, ask.leaders, ask.size, slices=True)
        found, rest, leaders, index = [], ask.slices, ask.leaders, 0
        while leaders > 0 and index < len(order) and counts.leaders[order[index]] > 0:
            domain = order[index]
            if not self.fullest_first and counts.led_slices[domain] >= rest:
                domain = self.tightest(order[index:], rest, leaders, slices=True)
            found.append(domain)
            leaders -= counts.leaders[domain]
            rest -= counts.led_slices[domain]
            index += 1
        if leaders > 0:
            raise self.refused(level, ask.leaders - leaders)
        order = self.by_room(order[index:]) if ask.leaders else order
        for index, one_domain in enumerate(order):
            if rest <= 0:
                break
            domain = one_domain
            if not self.fullest_first and counts.slices[one_domain] >= rest:
                domain = self.tightest(order[index:], rest, 0, slices=True)
            found.append(domain)
            rest -= counts.slices[domain]
        if rest > 0:
            raise self.refused(level, ask.slices - rest)
        return found

    def refused(self, level: int, found: int) -> Unplaced:
        """Return the refusal of pods of which so many slices fit."""
        if self.ask.layers:
            text = layered_shortfall(self.topology, self.tree, self.counts, self.ask, level)
        else:
            text = shortfall(self.topology, self.ask, found)
        return Unplaced(text + self.why())

    def leader_first(self, domains: list[int], count: int, leaders: int, size: int, *, slices: bool) -> list[int]:
        """Return domains with the first in front that takes the leader and still leaves all of them enough room."""
        if not leaders or len(domains) < 2 or not self.fits_leaders:
            return domains
        counts = self.counts
        room, led = (counts.slices, counts.led_slices) if slices else (counts.pods, counts.led_pods)
        spare = sum(room[domain] for domain in domains) - (count // size if slices else count)
        for index, domain in enumerate(domains):
            if counts.leaders[domain] >= leaders and room[domain] - led[domain] <= spare:
                return [domain, *domains[:index], *domains[index + 1 :]]
        return domains
