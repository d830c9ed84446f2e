"""Local disks: what nodes of a pool have, and what a job wants of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Tag

from trainyard.specs.models.base import Name, Room, Spec


class LocalDisks(Spec):
    """Local disks of a pool's nodes that pods may have as scratch, NVMe as a rule."""

    size: Room
    """Bytes of one node, as its file systems have them."""
    storage: Name | None = None
    """A key of the cluster's `storage` that makes a volume of them for each pod; default: the kubelet's folder is on
    them, so that emptyDirs are."""


class Scratch(Spec):
    """Local disk of each pod, which is gone with it."""

    size: Room
    """Bytes."""
    medium: Literal["nvme"] | None = None
    """`nvme`: the local disks that the pool declares; default: whatever disk the kubelet's folder is on."""


Scratched = Annotated[
    Annotated[Room, Tag("a size")] | Annotated[Scratch, Tag("with its medium")],
    Discriminator(lambda value: "with its medium" if isinstance(value, (dict, Scratch)) else "a size"),
]
"""Scratch, or its size alone."""
