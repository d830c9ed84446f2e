"""Two states of a repository's specs, before and after an upgrade: whose verdict and which objects change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.base.documents.differences import differences
from trainyard.change.upgrade.effects import JobTurn, ObjectTurn
from trainyard.judge.admission.verdicts import Verdict
from trainyard.render.clusters import folders
from trainyard.specs.sources import Specs

SHOWN = 3
"""Fields of an object that are named."""

HARDWARE = "hardware"
"""Folder of what a person syncs, since it drains or reconfigures nodes."""


@dataclass(frozen=True, slots=True)
class Side:
    """The specs of a repository, and what becomes of the jobs on the clusters that are asked about."""

    specs: Specs
    verdicts: Sequence[Verdict]


def changed_clusters(before: Specs, after: Specs) -> list[str]:
    """Return the clusters that the change of a file reaches: its own, and those that have it as their base."""
    return [name for name, cluster in after.clusters.items() if cluster != before.clusters.get(name)]


def job_turns(before: Side, after: Side) -> tuple[tuple[JobTurn, ...], int]:
    """Return the jobs whose verdict changes, those that never fit first, and how many others have another reason."""
    past = {(verdict.cluster, verdict.ask.name): verdict for verdict in before.verdicts}
    turns, reworded = [], 0
    for verdict in after.verdicts:
        old = past.get((verdict.cluster, verdict.ask.name))
        if old is None:
            continue
        if old.word != verdict.word:
            turns.append(JobTurn(verdict.cluster, verdict.ask.name, old.word, verdict.word, verdict.detail))
        else:
            reworded += old.detail != verdict.detail
    return tuple(sorted(turns, key=lambda turn: turn.after != "never fits")), reworded


def object_turns(before: Specs, after: Specs, clusters: Collection[str]) -> Iterator[ObjectTurn]:
    """Yield the objects of clusters, those of runs apart, that come, change or go."""
    for cluster in clusters:
        one, two = objects(before, cluster), objects(after, cluster)
        for key in sorted({*one, *two}):
            old, new = one.get(key), two.get(key)
            if old == new:
                continue
            found = list(differences(old, new)) if old and new else []
            yield ObjectTurn(
                "changes" if old and new else "adds" if new else "removes",
                cluster,
                key[0],
                key[1],
                tuple(found[:SHOWN]),
                max(0, len(found) - SHOWN),
                driver=key[0] == HARDWARE and any(map(is_driver, found or key[1:])),
            )


def is_driver(change: str) -> bool:
    """Whether a field that differs is one of a driver of nodes.

    >>> is_driver("spec.ofedDriver.version: a → b"), is_driver("spec.nvIpam.version: a → b")
    (True, False)
    """
    return "driver" in change.partition(":")[0].lower()


def objects(specs: Specs, cluster: str) -> Mapping[tuple[str, str], dict[str, Any]]:
    """Return the objects of a cluster by folder and name, as they are written."""
    found = {}
    for folder, resources in folders(specs, cluster).items():
        for resource in resources:
            place = f"{resource.namespace}/{resource.name}" if resource.namespace else resource.name
            found[folder, f"{resource.kind} {place}"] = resource.value()
    return found
