"""How pods are spread over the domains chosen for them, level by level down to the leaves.

Source: kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go updateCountsToMinimumGeneric, findTopologyAssignment.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.upstream.kueue.topology.choice import Search
from trainyard.upstream.kueue.topology.counts import Counts


def descend(search: Search, level: int, domains: list[int], *, balanced: bool) -> list[int]:
    """Return the leaves that pods are put on; how many each gets is in the counts.

    Down to the level of slices the children of all domains share the pods; below it each domain's share them out.
    """
    tree, ask, counts = search.tree, search.ask, search.counts
    lowest = len(tree.levels) - 1
    domains = take(search, domains, ask.count, ask.leaders, ask.size, slices=True)
    while level < min(lowest, ask.slice_level) and not balanced:
        below = search.by_room(tree.below(domains))
        domains = take(search, below, ask.count, ask.leaders, ask.size, slices=True)
        level += 1
    for here in range(level, lowest):
        size = ask.inner.get(here + 1, 1) if here >= ask.slice_level else ask.size
        found: list[int] = []
        for domain in domains:
            below = search.by_room(tree.children[domain])
            if size > 1:
                for child in below:
                    counts.slices[child] = counts.pods[child] // size
                    counts.led_slices[child] = counts.led_pods[child] // size
            found += take(search, below, counts.pods[domain], counts.leaders[domain], size, slices=size > 1)
        domains = found
    return domains


def take(search: Search, domains: list[int], count: int, leaders: int, size: int, *, slices: bool) -> list[int]:
    """Return the first domains that hold pods and leader, with what each gets in the counts.

    The last is the one with the least room that is enough, unless the fullest come first. No domains are returned
    where all are not enough, which the caller has excluded.
    """
    counts = search.counts
    domains = search.leader_first(domains, count, leaders, size, slices=slices)
    rest = count // size if slices else count
    room = counts.slices if slices else counts.pods
    unit = size if slices else 1
    found: list[int] = []
    for index, one_domain in enumerate(domains):
        domain = one_domain
        if leaders > 0:
            domain, rest, leaders, done = _take_led(search, domains[index:], rest, leaders, unit, slices=slices)
            found.append(domain)
            if done:
                return found
            continue
        if not search.fullest_first and room[domain] >= rest:
            domain = search.tightest(domains[index:], rest, 0, slices=slices)
        counts.leaders[domain] = 0
        found.append(domain)
        if room[domain] >= rest:
            counts.pods[domain] = rest * unit
            room[domain] = rest
            return found
        if slices:
            counts.pods[domain] = room[domain] * unit
        rest -= room[domain]
    return []


def _take_led(
    search: Search, domains: Sequence[int], rest: int, leaders: int, unit: int, *, slices: bool
) -> tuple[int, int, int, bool]:
    """Put pods into the first domain while the leader has no place; return it, what is left, and whether all is put."""
    counts = search.counts
    room, led = (counts.slices, counts.led_slices) if slices else (counts.pods, counts.led_pods)
    domain = domains[0]
    enough = led[domain] >= rest and counts.leaders[domain] >= leaders
    if enough and not search.fullest_first:
        domain = search.tightest(domains, rest, leaders, slices=slices)
        enough = counts.leaders[domain] >= leaders
    if enough:
        room[domain] = rest
        counts.leaders[domain] = leaders
        counts.pods[domain] = rest * unit
        return domain, 0, 0, True
    if not (search.fits_leaders or slices):
        return domain, *_take_unled(counts, domain, rest, leaders), False
    led[domain] = min(led[domain], rest)
    counts.leaders[domain] = min(counts.leaders[domain], leaders)
    room[domain] = led[domain]
    counts.pods[domain] = led[domain] * unit
    return domain, rest - led[domain], leaders - counts.leaders[domain], False


def _take_unled(counts: Counts, domain: int, rest: int, leaders: int) -> tuple[int, int]:
    """Put pods into a domain before Kueue 0.18.5, whose counts are cut by what is left after them; return what is."""
    rest, leaders = rest - counts.led_pods[domain], leaders - counts.leaders[domain]
    counts.led_pods[domain] = min(counts.led_pods[domain], rest)
    counts.leaders[domain] = min(counts.leaders[domain], leaders)
    return rest, leaders
