"""Transports of NCCL and RCCL between nodes: the name by which each answers to NCCL_NET, and who brings it.

NCCL initializes the one transport whose name is NCCL_NET, in any case of letters, and none else; where it is not there,
every rank fails with "Failed to initialize any NET plugin". So a missing plugin never means training over TCP, and a
plugin under another name is never used (NVIDIA/nccl v2.30.7 src/plugin/net.cc ncclNetInit; ROCm/rccl src/net.cc).
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Spec, Text


class Transport(Spec):
    """A way by which ranks on different nodes reach each other."""

    title: Text
    """Name of the transport or plugin, and its owner."""
    names: tuple[Text, ...]
    """Values of NCCL_NET by which its releases answer."""
    pods: tuple[Text, ...] = ()
    """Types of fabric whose pods are given the first name."""
    library: Text | None = None
    """File that NCCL_NET_PLUGIN names; default: libnccl-net.so, or none where it is built in."""
    brought: Literal["NCCL", "image", "node"]
    """Place that it comes from: NCCL itself, the job's image, or the node by an installer."""
    unset: Text | None = None
    """Reason that no pod is given its name."""
    sources: dict[str, Text]
    """Source of each fact: field -> document."""


@cache
def transports() -> dict[str, Transport]:
    """Return every transport, as the files of this folder say; raises SpecError where one is damaged."""
    return read_facts(__name__, Transport, "transport of NCCL")


@cache
def net_name(fabric: str) -> str | None:
    """Return the value of NCCL_NET for pods on a type of fabric, or None where none is safe."""
    return next((row.names[0] for row in transports().values() if fabric in row.pods), None)


@cache
def built_in() -> frozenset[str]:
    """Return the names of transports that are part of NCCL, in small letters."""
    return frozenset(name.lower() for row in transports().values() if row.brought == "NCCL" for name in row.names)
