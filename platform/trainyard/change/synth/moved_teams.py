"""Teams with runs whose namespace changes: Argo CD would leave these runs where they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from trainyard.base.findings import Finding, Location
from trainyard.base.system.repository import team_file
from trainyard.change.synth.write import Tree
from trainyard.render.tree import index, layout
from trainyard.render.tree.rules import NAMESPACE_CHANGED
from trainyard.render.tree.snapshot import Snapshot

SHOWN = 5
"""Runs that a message names."""


class Moved(NamedTuple):
    """A team with runs whose namespace is another than at the base."""

    cluster: str
    team: str
    before: str
    after: str
    runs: tuple[str, ...]
    entry: index.Entry
    """Of its namespace at the base."""

    def finding(self, locate: Callable[[index.Entry], Location]) -> Finding:
        """Return the finding, at the field that says the namespace."""
        more = f" and {len(self.runs) - SHOWN} more" if len(self.runs) > SHOWN else ""
        message = f"namespace of team {self.team!r} on {self.cluster!r} was {self.before!r}, where it has runs"
        place, rule = locate(replace(self.entry, field=("namespace",))), NAMESPACE_CHANGED
        return rule.of(place, f"{message}: {', '.join(self.runs[:SHOWN])}{more}", fix=rule.fix)


def moved_teams(base: Snapshot, tree: Tree) -> dict[tuple[str, str], Moved]:
    """Return the teams with runs at the base whose namespace changes, by cluster and team; also where all runs end.

    Argo CD leaves out what is in a namespace that a project does not have, and so never ends these runs
    (argo-cd v3.6.1 controller/state.go IsLiveResourcePermitted).
    """
    runs: dict[tuple[str, str], list[str]] = defaultdict(list)
    if not base.live:
        return {}
    for (cluster, team, _), entry in base.active.items():
        runs[cluster, team].append(entry.name)
    found: dict[tuple[str, str], Moved] = {}
    for (cluster, team), names in sorted(runs.items()):
        path = f"{cluster}/{layout.index_file(team_folder(team))}"
        oid, now = base.files.get(path), tree.ids.get(path)
        if oid is None or now is None or oid == now:
            continue
        old, new = (namespace_entry(data, team) for data in (next(base.read([oid])), next(iter(tree.contents([path])))))
        if old is not None and new is not None and old.name != new.name:
            found[cluster, team] = Moved(cluster, team, old.name, new.name, tuple(sorted(names)), old)
    return found


def team_folder(team: str) -> str:
    """Return the folder of a team's own objects."""
    return f"teams/{team}"


def namespace_entry(data: bytes, team: str) -> index.Entry | None:
    """Return the entry of a team's namespace in the index of its folder."""
    entries = (index.load(data, team_folder(team)) or {}).values()
    found = [entry for entry in entries if entry.kind == "Namespace" and entry.api_version == "v1"]
    return next((entry for entry in found if entry.spec == team_file(team)), next(iter(found), None))


def namespace_of(base: Snapshot, cluster: str, team: str) -> str:
    """Return the namespace of a team at the base; its name where no index says another."""
    data = base.text(f"{cluster}/{layout.index_file(team_folder(team))}")
    entry = namespace_entry(data, team) if data is not None else None
    return entry.name if entry is not None else team
