"""Which of two topology levels holds the other, where their names tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

CHAINS = (
    ("region", "zone", "datacenter", "building", "hall", "row", "rack", "host", "hostname"),
    ("zone", "superblock", "block", "subblock", "host", "hostname"),
    ("superblock", "block", "rack", "host", "hostname"),
    ("core", "spine", "leaf", "accelerator"),
    ("layer-1", "layer-2", "layer-3", "layer-4", "layer-5"),
)
"""Words for levels, each list from coarse to fine; words of no common list are not compared.

Kueue v0.19.2 site/content/en/docs/concepts/topology_aware_scheduling.md (block, rack), Google Kubernetes Engine
(gce-topology-block, -subblock, -host), Amazon EC2 (network-node-layer-1, the one nearest to the core), NVIDIA Topograph
(network.topology.nvidia.com/core, spine, leaf, accelerator).
"""


def word(name: str) -> str:
    """Return the word that a level's name or label ends with: `rack` of `example.com/topology-rack`."""
    tail = name.rpartition("/")[2].lower()
    layer = re.search(r"layer-\d+$", tail)
    return layer[0] if layer else re.split(r"[-_.]", tail)[-1]


def upside_down(names: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the places of levels that hold one before them, with their own words and those of the other."""
    words = [word(name) for name in names]
    for index, fine in enumerate(words):
        for coarse in words[index + 1 :]:
            if any(fine in chain and coarse in chain and chain.index(coarse) < chain.index(fine) for chain in CHAINS):
                yield index, fine, coarse
                break
