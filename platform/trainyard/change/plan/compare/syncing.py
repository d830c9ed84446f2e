"""What Argo CD does with an object that changes: by the Application that syncs its folder, and the object's options.

Facts: argo-cd v3.5.1 docs/user-guide/auto_sync.md, sync-options.md; an update that the API server refuses is an error
of the plan, so what is left is taken in place, or made anew where its own options say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from trainyard.base.findings import Finding
from trainyard.base.labels import SYNC_OPTIONS
from trainyard.base.manifests import value_at
from trainyard.base.system.repository import GENERATED
from trainyard.change.plan.effects import ObjectEffect, Sync
from trainyard.change.plan.read.two_sides import Sides, plain
from trainyard.judge.checks.guards import FORCED, KEPT
from trainyard.render.tree import layout

UPDATES = "update/"
"""What the rules of the API server on updates begin with."""


class Applications:
    """The Applications of both sides, by the folder that they sync."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self.of = cache(self._read)

    def _read(self, cluster: str) -> dict[str, Any]:
        """Return the sync policy of every folder of a cluster; of one that goes, that of the base."""
        found: dict[str, Any] = {}
        for side in (self._sides.base, self._sides.now):
            names = [name for name in side.folder(f"{cluster}/argocd") if name.startswith("application.")]
            for data in side.contents([f"{cluster}/argocd/{name}" for name in names]):
                value = plain(data, "")
                path = value_at(value, ("spec", "source", "path"))
                if isinstance(path, str):
                    folder = path.rpartition(f"{cluster}/")[2]
                    found[folder] = value_at(value, ("spec", "syncPolicy")) or {}
        return found

    def policy(self, cluster: str, folder: str) -> Any:
        """Return the sync policy of the Application that a folder is of; None where no Application is known."""
        known = self.of(cluster)
        return next((known[item] for item in above(folder) if item in known), None)


def above(folder: str) -> list[str]:
    """Return a folder and those above it.

    >>> above("argocd/settings")
    ['argocd/settings', 'argocd']
    """
    parts = folder.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def sync(applications: Applications, cluster: str, folder: str, old: Any, new: Any) -> Sync:
    """Return the action of Argo CD on one object; `old` and `new` are None where it does not exist."""
    if f"{folder}/".startswith(layout.OF_NO_SERVER):
        return "never"
    policy = applications.policy(cluster, folder)
    automated = value_at(policy, ("automated",))
    if policy is not None and (not isinstance(automated, Mapping) or automated.get("enabled") is False):
        return "by hand"
    if new is None:
        prunes = policy is None or value_at(automated, ("prune",)) is True
        return "prune" if prunes and not options(old) & KEPT else "keep"
    if old is None:
        return "create"
    return "replace" if options(old) >= FORCED or options(new) >= FORCED else "in place"


def options(value: Any) -> frozenset[str]:
    """Return an object's sync options."""
    found = value_at(value, ("metadata", "annotations", SYNC_OPTIONS))
    return frozenset(part.strip() for part in found.split(",")) if isinstance(found, str) else frozenset()


def mark_refused(effects: Iterable[ObjectEffect], findings: Iterable[Finding]) -> Iterator[ObjectEffect]:
    """Yield the effects on objects, marked as refused where an error says that the API server refuses the update."""
    wrong = {
        (finding.location.file.rpartition("/")[0], finding.object)
        for finding in findings
        if finding.is_error and finding.rule.startswith(UPDATES)
    }
    for effect in effects:
        here = f"{GENERATED}/{effect.cluster}/{effect.folder}", effect.object
        yield replace(effect, sync="refuse") if effect.word == "changes" and here in wrong else effect
