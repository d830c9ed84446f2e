"""From two trees, the one at the base and the one at hand, to what the change does."""

from __future__ import annotations

from collections.abc import Collection

from trainyard.change.plan.compare.objects import object_effects
from trainyard.change.plan.compare.runs import run_effects
from trainyard.change.plan.effects import Plan, Switch
from trainyard.change.plan.read.two_sides import Sides
from trainyard.render.tree.hardware import hardware_with_runs


def compare(sides: Sides, *, live: bool, specs: Collection[str] = ()) -> Plan:
    """Return the effects on runs and objects between two trees.

    `specs` are the files of specs that changed and whose changes are told in their own words.
    """
    base, now = sides.base, sides.now
    runs = tuple(run_effects(sides))
    things = list(object_effects(sides, specs))
    findings = (
        tuple(hardware_with_runs(base, now.files, {key: entry.name for key, entry in now.active.items()}))
        if base.live
        else ()
    )
    switched: Switch | None = None
    if base.commit is not None and live != base.live:
        switched = "on" if live else "off"
    new = set(now.by_cluster) - set(base.by_cluster)
    where: dict[str, dict[str, None]] = {}
    for effect, found in things:
        for item in found if effect.cluster not in new else ():
            where.setdefault(item, {})[effect.cluster] = None
    return Plan(
        base.commit,
        live or base.live,
        base.compared,
        switched,
        runs=runs,
        objects=tuple(effect for effect, _ in things),
        dangers=tuple(f"on {', '.join(names)}: {key}" for key, names in where.items()),
        findings=findings,
    )
