"""Nodes that are taken out, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import count_of
from trainyard.change.plan.effects import Maintenance, Plan
from trainyard.change.plan.words.headline import first

SHOWN = 6
"""Runs of an outage that are named."""


def maintenance_lines(plan: Plan, cluster: str, *, everything: bool = False) -> Iterator[str]:
    """Yield the outages of a cluster, each with who does it, when, and the runs that end."""
    for one in plan.maintenance:
        if one.cluster == cluster:
            yield from outage_lines(one, everything=everything)


def outage_lines(one: Maintenance, *, everything: bool) -> Iterator[str]:
    """Yield the lines of one outage."""
    pools = f"pool {one.pools[0]}" if len(one.pools) == 1 else f"pools {', '.join(one.pools)}"
    yield f"{count_of(one.nodes, 'node')} of {pools}: {one.what}"
    at_a_time = f", {count_of(one.at_a_time, 'node')} at a time" if one.at_a_time else ""
    yield f"  who: {one.by} {one.how}{at_a_time}"
    yield f"  when: {one.begins}"
    if not one.runs:
        yield "  ends: no run"
        return
    gpus = sum(run.gpus for run in one.runs)
    held = f" ({count_of(gpus, 'GPU')})" if gpus else ""
    yield f"  ends: {count_of(len(one.runs), 'run')}{held}, {times(one)}{repeated(one)}"
    shown = one.runs if everything else one.runs[:SHOWN]
    yield from (f"    {run.team}/{run.run}: {run.state}" for run in shown)
    if len(one.runs) > len(shown):
        yield f"    and {len(one.runs) - len(shown)} more; use --all"
    yield from (f"  {line}" for line in stuck_lines(one))
    if one.hold:
        yield f"  without: {one.hold}"


def times(one: Maintenance) -> str:
    """Return how often a run ends: once where all nodes are out together, else up to once a round."""
    if one.rounds is None:
        return "each as often as its nodes are taken"
    return "each once" if one.rounds == 1 else f"each 1 to {one.rounds} times"


def repeated(one: Maintenance) -> str:
    """Return the work that all runs repeat if each ends once, where it is known of some."""
    known = [run.lost_gpu_hours for run in one.runs if run.lost_gpu_hours is not None]
    if len(known) < len(one.runs) or sum(known) < 1:
        return ""
    return f"; once costs at most {sum(known):,.0f} GPU-hours"


def stuck_lines(one: Maintenance) -> Iterator[str]:
    """Yield why runs hold their nodes up, each reason once."""
    reasons: dict[str, list[str]] = {}
    for run in one.runs:
        for why in run.stuck:
            reasons.setdefault(why, []).append(f"{run.team}/{run.run}")
    yield from (f"! {first(names)}: {why}" for why, names in reasons.items())
