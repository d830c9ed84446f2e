"""The nodes of a pool one by one: how they are called in what is foretold and simulated, and where each stands."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.labels import HOSTNAME
from trainyard.render.sizing.machines import machine
from trainyard.specs import Cluster, Pool


def nodes_of(cluster: Cluster, pool_name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield name and labels of each node that a pool has at most."""
    pool, common = cluster.pools[pool_name], machine(cluster, pool_name).labels
    for index in range(pool.nodes):
        name = f"{pool_name}-{index:03}"
        yield name, {**common, **places(cluster, pool, index), HOSTNAME: name}


def places(cluster: Cluster, pool: Pool, index: int) -> dict[str, str]:
    """Return the labels of where a node stands: racks and blocks share nodes evenly, and fill NVLink domains."""
    number = {"rack": index * pool.racks // pool.nodes, "block": index * pool.blocks // pool.nodes}
    if pool.nvlink:
        number[pool.nvlink] = index // pool.node.nvlink_nodes
    named = list(cluster.levels.items())[:-1]
    return {label: f"{level}-{number.get(level, 0)}" for level, label in named}
