"""Everything that an upgrade does, put together of both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from trainyard.base.findings import Location
from trainyard.change.maintenance import hardware
from trainyard.change.maintenance.windows import begins
from trainyard.change.upgrade.compare import HARDWARE, Side, job_turns, object_turns, objects
from trainyard.change.upgrade.effects import Taken, Upgrade, Written
from trainyard.change.upgrade.moves import Move, chosen, together
from trainyard.change.upgrade.runs import run_objects
from trainyard.change.upgrade.steps import make_step
from trainyard.judge.admission.decided import stand_ins
from trainyard.specs.sources import Specs


def report(
    root: Path,
    name: str,
    moves: Sequence[Move],
    places: Sequence[Location],
    before: Side,
    after: Side,
    reached: Sequence[str],
) -> Upgrade:
    """Return the effects of the moves on a cluster; `places` are their fields, `reached` the clusters that change."""
    cluster = after.specs.clusters[name]
    turns = tuple(object_turns(before.specs, after.specs, reached))
    heads = tuple(run_objects(root, reached))
    drivers = any(turn.driver for turn in turns)
    jobs, reworded = job_turns(before, after)
    sides = {"before": before.specs.clusters[name], "after": cluster}
    return Upgrade(
        cluster=name,
        written=tuple(
            Written(place.file, place.line, move.operator, move.before, move.after, reached_by(move, reached, after))
            for move, place in zip(moves, places, strict=True)
        ),
        steps=tuple(make_step(move, cluster, root, heads, drivers=drivers) for move in moves),
        judged=len(after.verdicts),
        jobs=jobs,
        reworded=reworded,
        objects=turns,
        outages=tuple(nodes_out(before.specs, after.specs, name)),
        decided_as=tuple(
            dict.fromkeys(f"{when} the upgrade, {text}" for when, one in sides.items() for text in stand_ins(one))
        ),
        together=together(cluster, {move.operator: move for move in moves}),
    )


def reached_by(move: Move, reached: Sequence[str], after: Side) -> tuple[str, ...]:
    """Return the clusters that run the new release of an operator after its move."""
    return tuple(name for name in reached if chosen(after.specs.clusters[name]).get(move.operator) == move.after)


def nodes_out(before: Specs, after: Specs, name: str) -> Iterator[Taken]:
    """Yield the nodes of a cluster that are taken out by what changes in its `hardware/`."""
    old, new = objects(before, name), objects(after, name)
    keys = [key for key in sorted({*old, *new}) if key[0] == HARDWARE]
    cluster = after.clusters[name]
    for outage in hardware.outages(cluster, [(old.get(key), new.get(key)) for key in keys]):
        who = f"{outage.by} {outage.how}"
        yield Taken(outage.what, outage.pools, outage.nodes, who, outage.at_a_time, begins(cluster, outage))
