"""Machines drawn at random: NUMA nodes, cores, memory, huge pages, distances and devices, as a case writes them."""

from __future__ import annotations

from random import Random
from typing import Any

NUMA_COUNTS = (1, 2, 2, 2, 2, 4, 4, 8)
"""How often there are how many NUMA nodes."""


def draw_node(random: Random) -> dict[str, Any]:
    """Return the `node` of a case."""
    count = random.choice(NUMA_COUNTS)
    threads = random.choice((1, 2, 2))
    node: dict[str, Any] = {"threadsPerCore": threads, "numa": _numa(random, count)}
    if count > 1:
        node["sockets"] = random.choice([item for item in (1, 2, 2, 4) if item <= count])
    if random.random() < 0.3:
        node["siblings"] = random.choice(("apart", "adjacent"))
    if random.random() < 0.3:
        node["coresPerL3"] = random.choice((2, 3, 4, 8))
    if random.random() < 0.25:
        node["distances"] = _distances(random, len(node["numa"]))
    if random.random() < 0.1:
        node["ephemeralStorage"] = f"{random.randint(50, 400)}Gi"
    if random.random() < 0.1:
        node["labels"] = {"pool": random.choice("ab")}
    node["devices"] = _devices(random, len(node["numa"]))
    unadvised = {name: "none" for name in node["devices"] if random.random() < 0.03}
    return {**node, "choice": unadvised} if unadvised else node


def _numa(random: Random, count: int) -> list[dict[str, Any]]:
    cores = random.choice((2, 4, 4, 6, 8, 8, 16, 56)) if count < 8 else random.choice((2, 4, 8))
    memory, pages = random.choice((8, 16, 32, 64)), _pages(random)
    even = random.random() < 0.8
    nodes = []
    for _ in range(count):
        node: dict[str, Any] = {"cores": cores, "memory": f"{memory}Gi"}
        if not even:
            node = {"cores": random.randint(2, 8), "memory": f"{random.randint(8, 48)}Gi"}
        own = pages if even or random.random() < 0.5 else _pages(random)
        nodes.append({**node, "hugepages": own} if own else node)
    if count in (2, 4) and random.random() < 0.06:
        nodes.append({"memory": f"{memory}Gi"})
    if random.random() < 0.03:
        for index, node in enumerate(nodes):
            node["id"] = index * 2
    return nodes


def _pages(random: Random) -> dict[str, str]:
    if random.random() < 0.6:
        return {}
    sizes = random.choice((("1Gi",), ("2Mi",), ("1Gi", "2Mi"), ("32Mi",)))
    return {size: f"{random.choice((1, 2, 4, 6))}Gi" for size in sizes}


def _distances(random: Random, count: int) -> list[list[int]]:
    out = [[10] * count for _ in range(count)]
    for one in range(count):
        for other in range(one):
            out[one][other] = out[other][one] = random.choice((11, 12, 16, 20, 21, 32))
    return out


def _devices(random: Random, nodes: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if random.random() < 0.8:
        out["nvidia.com/gpu"] = _spread(random, nodes, random.choice((1, 2, 4)))
    if random.random() < 0.3:
        out["example.com/nic"] = _spread(random, nodes, random.choice((1, 2)), topology=random.random() < 0.7)
    if random.random() < 0.15:
        for rail in range(random.choice((1, 2, 4))):
            place = {"numa": rail % nodes} if random.random() < 0.7 else {}
            out[f"example.com/rail{rail}"] = [{"count": random.choice((1, 4)), **place}]
    return out


def _spread(random: Random, nodes: int, value: int, *, topology: bool = True) -> list[dict[str, Any]]:
    """Return devices on all NUMA nodes, or on some; now and then one is unhealthy, near several nodes, or near none."""
    places: list[dict[str, Any]] = [
        {"numa": node} if topology else {} for node in range(nodes) if random.random() < 0.9
    ]
    groups: list[dict[str, Any]] = [{"count": value, **place} for place in places] or [{"count": value}]
    odd = random.random()
    if odd < 0.05:
        groups.append({"count": 1, "unhealthy": True, "numa": 0})
    elif odd < 0.1:
        groups.append({"count": 1})
    elif odd < 0.15:
        groups.append({"count": 1, "numa": sorted({random.randrange(nodes), random.randrange(nodes)})})
    elif odd < 0.17:
        groups.append({"count": 1, "numa": []})
    random.shuffle(groups)
    return groups
