"""Digests that a cluster gives images of its operators: of images that our objects name, one for all nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.findings import Finding, did_you_mean
from trainyard.operators.install import sites
from trainyard.rules import Rule
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

BY_NODE = frozenset({"driver", "ofedDriver"})
"""Whose operator completes the tag by system and kernel of the node.

Source: NVIDIA/gpu-operator v26.7 internal/state/driver.go; Mellanox/network-operator v26.4 pkg/state/state_ofed.go.
"""

DIGEST = Rule(
    id="values/digest",
    title="A digest is of an image that the objects of an operator name here.",
    why="nothing would be pinned, and everybody would think that it is",
    fix="name one of the components; images of a chart are pinned by its values",
    source="docs/clusters.md",
    layer="values",
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield digests of images that our objects do not name, or that are one of several by the node."""
    for site in sites(cluster):
        there = [name for name in site.components if name not in BY_NODE]
        for name in site.choice.digests:
            path = (*site.at, "digests", name)
            if name in BY_NODE and name in site.components:
                message = (
                    f"{name} is another image on each system and kernel; pin it in the registry that you mirror to"
                )
                yield DIGEST.at(source, path, message, key=True)
            elif name not in there and there:
                message = f"{site.name} has no image {name!r}; {did_you_mean(name, there, limit=6)}"
                yield DIGEST.at(source, path, message, key=True)
            elif name not in there:
                message = f"images of {site.name} are named by its chart; pin {name!r} in values"
                yield DIGEST.at(source, path, message, key=True)
