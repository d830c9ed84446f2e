"""Resources that a node offers to jobs, from the inventory or from a Node, and the pods that fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from trainyard.base.manifests import Manifest
from trainyard.base.quantities import Quantity
from trainyard.judge.policies.amounts import Need
from trainyard.judge.policies.world import World


def offered(world: World, pool: str) -> Mapping[str, Fraction]:
    """Return the amounts that jobs can use on a node of a pool, by resource; empty for an unknown pool."""
    from trainyard.render.sizing.machines import machine

    return machine(world.inventory, pool).for_jobs if world.inventory and pool in world.inventory.pools else {}


def allocatable(node: Manifest) -> Mapping[str, Fraction]:
    """Return the allocatable amounts of a Node, with those that daemons use; invalid quantities are skipped."""
    found: dict[str, Fraction] = {}
    for path, amount in node.at("status", "allocatable", "*"):
        try:
            found[str(path[-1])] = Fraction(Quantity.parse(amount).amount)
        except ValueError:
            continue
    return found


def holds(offers: Mapping[str, Fraction], needs: Mapping[str, Need]) -> int | None:
    """Return the number of pods that fit on a node; None if none of their resources is known of it."""
    known = ((offers[name], Fraction(need.amount)) for name, need in needs.items() if name in offers)
    return min((math.floor(offer / need) for offer, need in known if need > 0), default=None)
