"""What one node offers to jobs, as the inventory declares it or as a Node says it, and how many pods that holds."""

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
    """Return the allocatable amounts of a Node, daemons included, without values that are no quantity."""
    found: dict[str, Fraction] = {}
    for path, amount in node.at("status", "allocatable", "*"):
        try:
            found[str(path[-1])] = Fraction(Quantity.parse(amount).amount)
        except ValueError:
            continue
    return found


def holds(offers: Mapping[str, Fraction], needs: Mapping[str, Need]) -> int | None:
    """Return how many pods one node holds at once, None where nothing that they need is known of it."""
    known = ((offers[name], Fraction(need.amount)) for name, need in needs.items() if name in offers)
    return min((math.floor(offer / need) for offer, need in known if need > 0), default=None)
