"""What one node offers to jobs, as the inventory declares it or as a Node says it, and how many pods that holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from trainyard.manifests import Manifest
from trainyard.policies.amounts import Need
from trainyard.policies.world import World
from trainyard.quantities import Quantity


def offered(world: World, pool: str) -> Mapping[str, Fraction]:
    """Return what jobs can have of a node of the inventory's pool, by resource; nothing of a pool that is not there."""
    from trainyard.sizing.machines import machine

    return machine(world.inventory, pool).for_jobs if world.inventory and pool in world.inventory.pools else {}


def allocatable(node: Manifest) -> Mapping[str, Fraction]:
    """Return what a Node says that pods can have of it, its daemons among them; what is no quantity is left out."""
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
