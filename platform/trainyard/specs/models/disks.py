"""Local disks: what nodes of a pool have, and what a job wants of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Tag

from trainyard.specs.models.base import Name, Room, Spec


class LocalDisks(Spec):
    """Local disks of a pool's nodes for scratch, usually NVMe."""

    size: Room
    """Bytes on one node, as its file systems report them."""
    storage: Name | None = None
    """A key of the cluster's `storage` that makes a volume of these disks for each pod; default: the kubelet's
    folder is on them, so emptyDirs use them."""


class Scratch(Spec):
    """Local disk of each pod; its files are deleted with the pod."""

    size: Room
    """Bytes for each pod."""
    medium: Literal["nvme"] | None = None
    """`nvme`: the `localDisks` of the pool; default: the disk of the kubelet's folder."""


Scratched = Annotated[
    Annotated[Room, Tag("a size")] | Annotated[Scratch, Tag("with its medium")],
    Discriminator(lambda value: "with its medium" if isinstance(value, (dict, Scratch)) else "a size"),
]
"""Scratch, or its size alone."""
