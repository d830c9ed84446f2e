"""Digests that a cluster gives images of its operators: of images that our objects name, one for all nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.install import sites
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

BY_NODE = frozenset({"driver", "ofedDriver"})
"""Whose operator completes the tag by system and kernel of the node.

Source: NVIDIA/gpu-operator v26.7 internal/state/driver.go; Mellanox/network-operator v26.4 pkg/state/state_ofed.go.
"""

DIGEST = Rule(
    id="values/digest",
    title="A digest names an image that the operator's objects use.",
    why="otherwise no image is pinned, although the file says so",
    fix="name one of the components; pin images of a chart in its values",
    source="docs/clusters.md",
    layer="values",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield digests of images that our objects do not name, or that are one of several by the node."""
    for site in sites(cluster):
        there = [name for name in site.components if name not in BY_NODE]
        for name in site.choice.digests:
            path = (*site.at, "digests", name)
            if name in BY_NODE and name in site.components:
                message = f"{name} has a different image for each system and kernel; pin it in your registry mirror"
                yield DIGEST.at(source, path, message, key=True)
            elif name not in there and there:
                message = f"{site.name} has no image {name!r}; {did_you_mean(name, there, limit=6)}"
                yield DIGEST.at(source, path, message, key=True)
            elif name not in there:
                message = f"the chart of {site.name} names its images; pin {name!r} in its values"
                yield DIGEST.at(source, path, message, key=True)
