"""Balanced placement, which Kueue does behind a gate: as few domains as possible, with as equal shares as possible.

Source: kueue v0.19.2 pkg/cache/scheduler/tas_balanced_placement.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import log2
from typing import NamedTuple

from trainyard.upstream.kueue.topology.choice import Search
from trainyard.upstream.kueue.topology.counts import cut, sum_children


class Crash(Exception):  # noqa: N818  # what Kueue does, not what is wrong here
    """Kueue itself would crash on this request."""


class Greedy(NamedTuple):
    """How a request fits if the largest domains are filled first."""

    used: int
    """How many domains it takes."""
    last_led: int | None
    """The last domain with a leader, None without a leader."""
    last: int | None
    """The last other domain, None where the leader's is enough."""


class Balance(NamedTuple):
    """Domains of the requested level that can share a request, with what they have room for."""

    search: Search
    domains: list[int]
    least: int
    """Slices that each domain gets at least."""


def balance_search(search: Search) -> tuple[Search, int, list[int]] | None:
    """Return the search with the counts shared out, and level and domains to descend from; None if it cannot be done.

    Raises Crash for fewer pods than one slice, by whose number Kueue divides.
    """
    best = most_equal(search)
    if best is None:
        return None
    search, domains, level = best.search, best.domains, search.ask.level
    if level < search.ask.slice_level:
        chosen = fewest(search, domains, by_entropy=True)
        if chosen is None:
            return None
        domains, level = search.tree.below(chosen), level + 1
    shared = share(search, domains, best.least)
    return None if shared is None else (search, level, shared)


def most_equal(search: Search) -> Balance | None:
    """Return the siblings whose smallest share is the largest, then those that are the fewest."""
    tree, ask = search.tree, search.ask
    above = [tree.at[0]] if ask.level == 0 else [tree.children[parent] for parent in tree.at[ask.level - 1]]
    best, fewest_used = None, 0
    for siblings in above:
        domains = list(siblings)
        shares = tree.below(domains) if ask.level < ask.slice_level else domains
        fit = greedy(search, shares)
        if fit is None:
            continue
        if not fit.used:
            raise Crash("balanced placement of fewer pods than one slice divides by zero")
        least = smallest_share(search, fit)
        least_led = least
        if ask.leaders and fit.last is not None:
            least_led = min(least, search.counts.led_slices[fit.last])
        bound = best.least if best else 0
        if least < bound:
            continue
        pruned = without_small(search, domains, least)
        after = greedy(pruned, domains)
        if after is None and least_led < least:
            if least_led <= 0 or least_led < bound:
                continue
            least = least_led
            pruned = without_small(search, domains, least)
            after = greedy(pruned, domains)
        if after is not None and (least > bound or (least == bound and after.used < fewest_used)):
            best, fewest_used = Balance(pruned, domains, least), after.used
    return best if best is not None and best.least > 0 else None


def greedy(search: Search, domains: Sequence[int]) -> Greedy | None:
    """Return how many of the largest domains a request takes, None where all are not enough."""
    counts, ask = search.counts, search.ask
    rest, leaders, used = ask.slices, ask.leaders, 0
    last_led = last = None
    others = list(domains)
    if leaders:
        others = search.by_leader(domains)
        while leaders > 0 and others and counts.leaders[others[0]] > 0:
            last_led = others.pop(0)
            used += 1
            leaders -= counts.leaders[last_led]
            rest -= counts.led_slices[last_led]
    if leaders > 0:
        return None
    for domain in search.by_room(others):
        if rest <= 0 or counts.slices[domain] <= 0:
            break
        used, last = used + 1, domain
        rest -= counts.slices[domain]
    return None if rest > 0 else Greedy(used, last_led, last)


def smallest_share(search: Search, fit: Greedy) -> int:
    """Return how many slices every domain may be given at least."""
    counts = search.counts
    least = search.ask.slices // fit.used
    if fit.last_led is not None:
        least = min(least, counts.led_slices[fit.last_led])
    return least if fit.last is None else min(least, counts.slices[fit.last])


def without_small(search: Search, domains: list[int], least: int) -> Search:
    """Return the search without room in domains, or children of theirs, that cannot take the smallest share."""
    found = replace(search, counts=search.counts.copy())
    for domain in domains:
        for child in search.tree.children[domain]:
            prune(found, child, least)
    for domain in domains:
        recount(found, domain, search.ask.level, {})
        prune(found, domain, least)
    return found


def prune(search: Search, domain: int, least: int) -> None:
    """Take from a domain what cannot hold the smallest share: all room, or that of the leader."""
    counts = search.counts
    if counts.slices[domain] < least:
        for member in family(search, domain):
            counts.clear(member)
    elif search.ask.leaders and counts.leaders[domain] > 0 and counts.led_slices[domain] < least:
        for member in family(search, domain):
            counts.clear_leader(member)


def family(search: Search, domain: int) -> Iterable[int]:
    """Yield a domain and all below it."""
    yield domain
    for child in search.tree.children[domain]:
        yield from family(search, child)


def recount(search: Search, domain: int, level: int, inner: Mapping[int, int]) -> None:
    """Count a domain again, given the pods of its leaves."""
    children = search.tree.children[domain]
    if children:
        for child in children:
            recount(search, child, level + 1, inner)
        sum_children(search.tree, search.counts, search.ask, domain, level, inner)
    elif level == search.ask.slice_level:
        cut(search.counts, (domain,), search.ask)


def fewest(search: Search, domains: Sequence[int], *, by_entropy: bool) -> list[int] | None:
    """Return as few domains as fill up the request, with the least room in all; None where all are not enough.

    For each number of domains the ways to leave so many leaders and pods over are kept, the first of each.
    """
    counts, ask = search.counts, search.ask
    fit = greedy(search, domains)
    if fit is None:
        return None
    order = sorted(domains, key=lambda domain: (*weight(search, domain), domain)) if by_entropy else sorted(domains)
    ways: list[dict[tuple[int, int], list[int]]] = [{} for _ in range(fit.used + 1)]
    ways[0][ask.leaders, ask.slices * ask.size] = []
    for domain in order:
        for used in range(fit.used, 0, -1):
            for (leaders, pods), chosen in sorted(ways[used - 1].items()):
                if leaders <= 0 and pods <= 0:
                    continue
                if leaders > 0 and counts.leaders[domain] > 0:
                    left = (leaders - counts.leaders[domain], pods - counts.led_pods[domain])
                    ways[used].setdefault(left, [*chosen, domain])
                if counts.slices[domain] > 0:
                    ways[used].setdefault((leaders, pods - counts.pods[domain]), [*chosen, domain])
    over = [pods for leaders, pods in ways[fit.used] if leaders == 0 and pods <= 0]
    return ways[fit.used][0, max(over)] if over else None


def weight(search: Search, domain: int) -> tuple[int, int, float]:
    """Return the sort key of domains: leaders, slices beside them, and how evenly the room lies below them."""
    counts = search.counts
    pods = [counts.pods[child] for child in search.tree.children[domain]]
    total = sum(pods)
    entropy = -sum(pod / total * log2(pod / total) for pod in pods if pod) if total else 0.0
    return -counts.leaders[domain], -counts.led_slices[domain], -entropy


def share(search: Search, domains: Sequence[int], least: int) -> list[int] | None:
    """Give every domain the smallest share and the rest to the first; None where it does not come out even."""
    counts, ask = search.counts, search.ask
    chosen = fewest(search, domains, by_entropy=False)
    if chosen is None or ask.slices < len(chosen) * least:
        return None
    chosen = search.by_leader(chosen)
    extra, leaders = ask.slices - len(chosen) * least, ask.leaders
    for domain in chosen:
        more, leads = 0, leaders > 0
        if leads or extra > 0:
            room = counts.led_slices[domain] if leads else counts.slices[domain]
            more = min(room - least, extra)
        leaders -= int(leads)
        counts.leaders[domain] = int(leads)
        counts.slices[domain] = counts.led_slices[domain] = least + more
        counts.pods[domain] = (least + more) * ask.size
        counts.led_pods[domain] = counts.pods[domain] - counts.leaders[domain]
        extra -= more
    return None if extra > 0 or leaders > 0 else chosen
