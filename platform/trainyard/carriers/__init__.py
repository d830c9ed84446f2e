"""Where every kind carries pods: which templates, how many pods of each, what holds it suspended, its lists' keys.

One row a kind, ours and strangers', in `table.py`. A company adds kinds by entry points `trainyard.carriers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from trainyard.carriers.base import Carrier, PodSet, Template, pods_of_job
from trainyard.carriers.runtimes import runtime_of, written
from trainyard.carriers.table import CARRIERS, LISTS
from trainyard.manifests import ANY, identity_of, value_at

__all__ = [
    "ANY",
    "LISTS",
    "Carrier",
    "PodSet",
    "Template",
    "carrier",
    "carrier_of",
    "carriers",
    "pod_sets_of",
    "pods_of_job",
    "runtime_of",
    "written",
]

TABLE: Mapping[tuple[str, str], Carrier] = {(row.group, row.kind): row for row in CARRIERS}


@cache
def carriers() -> Mapping[tuple[str, str], Carrier]:
    """Return every kind that pods are made of, by group and kind: entry points for kinds that the table lacks, and it.

    The reader of entry points is imported here: judging a file takes it only where the table has no answer.
    """
    from trainyard.system.registry import added

    rows: list[Carrier] = [entry.load() for entry in added("trainyard.carriers")]
    return {**TABLE, **{(row.group, row.kind): row for row in rows if (row.group, row.kind) not in TABLE}}


def carrier(group: str, kind: str) -> Carrier | None:
    """Return the row of a kind, None where no pods are made of it."""
    return TABLE.get((group, kind)) or carriers().get((group, kind))


def carrier_of(value: Mapping[str, Any]) -> Carrier | None:
    """Return the row of an object's kind, None where no pods are made of it."""
    identity = identity_of(value)
    return carrier(identity.group, identity.kind)


def pod_sets_of(value: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> list[tuple[PodSet, Any]]:
    """Return the pod sets of a workload, each with its template, which another object beside it may hold."""
    there = {identity_of(each): each for each in others}
    holder = written(value, there.get)
    row = carrier_of(holder) if holder is not None else None
    return [(each, value_at(holder, each.template)) for each in row.pod_sets(holder)] if row and holder else []
