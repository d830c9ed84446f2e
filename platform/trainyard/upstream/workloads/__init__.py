"""What others made of every kind that pods are made of: where they stand, how many, what holds them, how they end.

One module a kind, ours and strangers', found in this folder. Entry points `trainyard.workloads` add a company's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from trainyard.base.findings import Path
from trainyard.base.manifests import ANY, Manifest, identity_of, matches, value_at
from trainyard.base.system.registry import added_entry_points, modules
from trainyard.upstream.workloads.base import Carrier, PodSet, Template, pods_of_job
from trainyard.upstream.workloads.merge import LISTS
from trainyard.upstream.workloads.runtimes import Find, runtime_of, written_object

__all__ = [
    "ANY",
    "LISTS",
    "Carrier",
    "PodSet",
    "Template",
    "carrier",
    "carrier_of",
    "carriers",
    "held_by",
    "held_in",
    "pod_sets_of",
    "pods_of_job",
    "runtime_of",
    "with_held",
    "written_object",
]

GROUPS = ("trainyard.workloads", "trainyard.carriers")
"""Groups of entry points that add rows; the second is the older name of the first."""

Rows = Mapping[tuple[str, str], Carrier]


@cache
def table() -> Rows:
    """Return the rows of this folder by group and kind, in their order: every `Carrier` that a module has."""
    here = (vars(module).values() for module in modules(sys.modules[__name__]))
    rows = {(value.group, value.kind): value for values in here for value in values if isinstance(value, Carrier)}
    return dict(sorted(rows.items()))


@cache
def carriers() -> Rows:
    """Return every kind that pods are made of, by group and kind: entry points for kinds that the table lacks, and it.

    Entry points of the group `trainyard.carriers` are read as those of `trainyard.workloads`.
    """
    rows: list[Carrier] = [entry.load() for group in GROUPS for entry in added_entry_points(group)]
    own = {(row.group, row.kind): row for row in rows}
    return dict(sorted({**own, **table()}.items()))


def carrier(group: str, kind: str) -> Carrier | None:
    """Return the row of a kind, None where no pods are made of it.

    Entry points are read only where the table has no answer: looking through installed packages takes long.
    """
    return table().get((group, kind)) or carriers().get((group, kind))


def carrier_of(value: Mapping[str, Any]) -> Carrier | None:
    """Return the row of an object's kind, None where no pods are made of it."""
    identity = identity_of(value)
    return carrier(identity.group, identity.kind)


def held_by(value: Mapping[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the whole objects that an object holds and its controller creates, each with its path.

    They are made in the holder's namespace, and none of them holds others (appwrapper v1.2.1
    internal/webhook/appwrapper_webhook.go, internal/controller/appwrapper/resource_management.go parseComponent).
    """
    row = carrier_of(value)
    namespace = identity_of(value).namespace
    for path, held in matches(value, row.embeds) if row is not None and row.embeds is not None else ():
        metadata = held.get("metadata", {}) if isinstance(held, dict) else None
        if isinstance(metadata, dict) and carrier_of(held) is not row:
            there = {"namespace": namespace, **metadata} if namespace else metadata
            yield path, {**held, "metadata": there}


def held_in(manifest: Manifest) -> Iterator[Manifest]:
    """Yield the same as manifests, whose findings stand at the fields of the holder."""
    yield from (manifest.inside(path, held) for path, held in held_by(manifest.value))


def with_held(values: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return objects in their order, each with those that it holds behind it."""
    return [held for value in values for held in (value, *(held for _, held in held_by(value)))]


def pod_sets_of(value: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> list[tuple[PodSet, Any]]:
    """Return the pod sets of a workload, each with its template, which another object beside it may hold.

    Those of an object that holds others are theirs, at their paths in the holder.
    """
    there = {identity_of(other): other for other in others}
    inner = [(path, pods, found) for path, held in held_by(value) for pods, found in _pod_sets(held, there.get)]
    own = [((), pods, found) for pods, found in _pod_sets(value, there.get)]
    return [(replace(pods, template=(*path, *pods.template)), found) for path, pods, found in (*own, *inner)]


def _pod_sets(value: Mapping[str, Any], find: Find) -> list[tuple[PodSet, Any]]:
    holder = written_object(value, find)
    row = carrier_of(holder) if holder is not None else None
    return [(pod_set, value_at(holder, pod_set.template)) for pod_set in row.pod_sets(holder)] if row and holder else []
