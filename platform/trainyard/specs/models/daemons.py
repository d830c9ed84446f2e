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
    """A daemon that somebody else runs on every node of the pool: a storage client, a log agent."""

    name: Name
    """What it is called; only people read it."""
    cpus: Size
    """What its pod asks for."""
    memory: Room
    """Bytes that its pod asks for."""
    guaranteed: StrictBool = False
    """Whether limits are requests in every container of its pod, so that the kubelet pins its memory."""


def kept_share(daemons: Sequence[PoolDaemon]) -> Share:
    """Return the share kept for daemons where those of others are stated: theirs, and room for our operators."""
    cpus, memory = [daemon.cpus for daemon in daemons], [daemon.memory for daemon in daemons]
    return Share(cpus=total([OPERATORS.cpus, *cpus]), memory=total([OPERATORS.memory, *memory]))


def total(amounts: Iterable[str]) -> str:
    """Return the sum of quantities, exactly."""
    return reduce(add, map(Quantity.parse, amounts)).canonical()
