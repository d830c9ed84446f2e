"""What a rehearsal leaves out and why, and the nodes that it needs beside those that are simulated."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.prerequisites.base import Prerequisite, Site
from trainyard.specs.models.simulated import FAKE_NODE


def nodes(_site: Site) -> Iterator[Prerequisite]:
    """Yield the nodes on which controllers run."""
    yield Prerequisite(
        "at least one node is a machine without taints, such as that of kind",
        "controllers, KWOK among them, run there; simulated nodes run nothing",
        ("simulated",),
        "`kind create cluster`",
        look=f"`kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints` without {FAKE_NODE}",
    )


def every(site: Site) -> Iterator[Prerequisite]:
    """Yield each operator that is not installed, with the reason."""
    for name, why in site.cluster.left_out.items():
        yield Prerequisite(
            f"{name} is not installed",
            why,
            ("operators", name),
            "nothing: what runs request of it is on the simulated nodes",
        )
