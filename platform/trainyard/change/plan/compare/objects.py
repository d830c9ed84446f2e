"""What happens to each object that is no run's, and what of that a reviewer should not miss."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from trainyard.base.documents.differences import differences
from trainyard.base.system.repository import cluster_file
from trainyard.change.plan.compare.dangers import dangers
from trainyard.change.plan.compare.syncing import Applications, sync
from trainyard.change.plan.effects import ObjectEffect
from trainyard.change.plan.read.two_sides import Sides, plain
from trainyard.render.tree import index, layout
from trainyard.render.tree.snapshot import Snapshot

SHOWN = 4
"""Fields of an object that are named."""


def object_effects(sides: Sides, specs: Collection[str] = ()) -> Iterator[tuple[ObjectEffect, tuple[str, ...]]]:
    """Yield the effect on each object outside of runs, with its dangers.

    `specs` are the files of specs that changed and whose changes are told in their own words.
    """
    base, now = sides.base, sides.now
    before, after = objects(base, now), objects(now, base)
    applications = Applications(sides)
    for place in sorted({*before, *after}):
        cluster, folder, name = place
        path = f"{cluster}/{folder}/{name}"
        if place in before and place in after and base.files.get(path) == now.files.get(path):
            continue
        old, new = before.get(place), after.get(place)
        told = specs if cluster_file(cluster) not in specs else None
        values = plain(base.text(path), path) if old else None, plain(now.text(path), path) if new else None
        for two, (was, is_now), stays in split((old, new), values, folder):
            found = effect(applications, cluster, folder, two, (was, is_now), told)
            yield (
                replace(found, sync="keep", kept=True) if stays else found,
                () if stays else tuple(dangers(found.object, was, is_now)),
            )


Two = tuple[Any, Any]
"""What there is before and after; None where it does not exist."""


def split(entries: Two, values: Two, folder: str) -> Iterator[tuple[Two, Two, bool]]:
    """Yield the object of one file before and after; one that gets another namespace ends, and another begins.

    Whether it stays in the cluster is said too: a team's project has one namespace, and Argo CD leaves alone what is
    in another (argo-cd v3.6.1 controller/state.go IsLiveResourcePermitted).
    """
    (old, new), (was, is_now) = entries, values
    if old is None or new is None or old.namespace == new.namespace:
        yield entries, values, False
        return
    yield (old, None), (was, None), folder.startswith(("teams/", layout.RUNS))
    yield (None, new), (None, is_now), False


def effect(
    applications: Applications,
    cluster: str,
    folder: str,
    entries: Two,
    values: Two,
    specs: Collection[str] | None,
) -> ObjectEffect:
    """Return the effect on one object; `specs` are as above, None where the cluster's own file tells everything."""
    (old, new), (was, is_now) = entries, values
    entry: index.Entry = new or old
    found = list(differences(was, is_now)) if old and new else []
    done = sync(applications, cluster, folder, was, is_now)
    return ObjectEffect(
        "changes" if old and new else "adds" if new else "removes",
        cluster,
        folder,
        entry.ref,
        tuple(found[:SHOWN]),
        max(0, len(found) - SHOWN),
        kept=done == "keep",
        sync=done,
        spec=entry.spec,
        told=specs is None or entry.spec in specs,
    )


def objects(side: Snapshot, other: Snapshot) -> dict[tuple[str, str, str], index.Entry]:
    """Return the index entries, by cluster, folder and file name, of the folders that differ from the other side."""
    folders = changed_folders(side, other)
    found: dict[tuple[str, str, str], index.Entry] = {}
    for (cluster, folder), entries in side.indexes_of(folders).items():
        for name, entry in entries.items():
            found[cluster, folder, name] = entry
    return found


def changed_folders(one: Snapshot, two: Snapshot) -> list[tuple[str, str]]:
    """Return cluster and folder, runs apart, of every file that is not the same on both sides."""
    found = set()
    for path, _ in one.files.items() ^ two.files.items():
        cluster, _, rest = path.partition("/")
        if rest.startswith((layout.INDEX, layout.LEDGER)):
            rest = layout.index_folder(rest) + "/"
        folder = rest.rpartition("/")[0]
        if folder and not (folder.startswith(layout.RUNS) and folder.count("/") > 1):
            found.add((cluster, folder))
    return sorted(found)
