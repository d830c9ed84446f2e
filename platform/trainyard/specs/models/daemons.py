"""Daemons that others run on every node of a pool, as a cluster's file tells of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add

from pydantic import StrictBool

from trainyard.base.quantities import Quantity
from trainyard.specs.models.base import Name, Room, Size, Spec
from trainyard.specs.shapes import Share

OPERATORS = Share(cpus="1", memory="2Gi")
"""What is kept for daemons of operators that we know: more than they ask for together on a node by their defaults."""


class PoolDaemon(Spec):
    """A daemon that somebody else runs on every node of the pool, such as a storage client or a log agent."""

    name: Name
    """Name of the daemon, for readers only."""
    cpus: Size
    """CPU requests of its pod."""
    memory: Room
    """Memory requests of its pod, in bytes."""
    guaranteed: StrictBool = False
    """Whether requests equal limits in all containers of its pod, so the kubelet pins its memory."""


def kept_share(daemons: Sequence[PoolDaemon]) -> Share:
    """Return the share kept for daemons where those of others are stated: theirs, and room for our operators."""
    cpus, memory = [daemon.cpus for daemon in daemons], [daemon.memory for daemon in daemons]
    return Share(cpus=total([OPERATORS.cpus, *cpus]), memory=total([OPERATORS.memory, *memory]))


def total(amounts: Iterable[str]) -> str:
    """Return the sum of quantities, exactly."""
    return reduce(add, map(Quantity.parse, amounts)).canonical()
