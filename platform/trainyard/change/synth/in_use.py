"""Whether a change takes away something that a frozen run refers to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from trainyard.base.documents import load
from trainyard.base.findings import Finding, Location
from trainyard.base.manifests import value_at
from trainyard.base.pools import Selectors
from trainyard.change.synth.moved_teams import moved_teams, namespace_of
from trainyard.change.synth.write import Tree
from trainyard.render.tree import index, layout
from trainyard.render.tree.references import CLUSTER_WIDE, KINDS, Reference, references
from trainyard.render.tree.rules import IN_USE, RUNTIME_CHANGED
from trainyard.render.tree.snapshot import Snapshot
from trainyard.render.tree.wanted import Wanted

SHOWN = 5
"""Runs that a message names."""


RUNTIMES = tuple(f"{kind.lower()}." for kind, what in KINDS.items() if what == "runtime")
"""How the files of runtimes are called."""

FLAVORS = "resourceflavor."
"""How the files of flavors are called, each of a pool."""


class Target(NamedTuple):
    """What a reference from one namespace can mean; of cluster-wide things the namespace is empty."""

    what: str
    namespace: str
    name: str


def check(
    base: Snapshot, tree: Tree, frozen: Sequence[Wanted], locate: Callable[[index.Entry], Location]
) -> Iterator[Finding]:
    """Yield a finding for each queue, pool, volume, network or runtime that is gone while a frozen run needs it.

    A team with runs that gets another namespace is one finding, whatever its runs need there.
    Of runtimes, which a run reads as it goes, those that are other than they were too. `locate` says where in the specs
    an entry of the base's index came from.
    """
    changed, moved = altered_runtimes(base, tree), moved_teams(base, tree)
    yield from (team.finding(locate) for team in moved.values())
    spaces = cache(partial(namespace_of, base))
    for cluster in sorted({entry.cluster for entry in frozen}):
        missing = removed_targets(base, tree, cluster)
        other = changed.get(cluster, {})
        users: dict[Target, list[str]] = defaultdict(list)
        for entry, needs in (
            needed_references(base, [one for one in frozen if one.cluster == cluster and one.key[:2] not in moved])
            if missing or other
            else ()
        ):
            place = spaces(entry.cluster, entry.team)
            for what, name in needs:
                own, shared = Target(what, place, name), Target(what, "", name)
                if target := next((one for one in (own, shared) if one in missing or one in other), None):
                    users[target].append(entry.run)
        for target, runs in sorted(users.items()):
            shown = ", ".join(sorted(runs)[:SHOWN]) + (f" and {len(runs) - SHOWN} more" if len(runs) > SHOWN else "")
            is_gone = target in missing
            rule, how = (IN_USE, "removed from") if is_gone else (RUNTIME_CHANGED, "changed on")
            needs_it = "need it" if is_gone else "need the old one"
            message = f"{target.what} {target.name!r} is {how} {cluster!r}, but runs {needs_it}: {shown}"
            yield rule.of(locate((missing if is_gone else other)[target]), message, fix=rule.fix)


def altered_runtimes(base: Snapshot, tree: Tree) -> dict[str, dict[Target, index.Entry]]:
    """Return by cluster the runtimes outside of runs that are there still and say something else."""
    found: dict[str, dict[Target, index.Entry]] = defaultdict(dict)
    for path, oid in base.files.items():
        now = tree.ids.get(path) if path.rpartition("/")[2].startswith(RUNTIMES) else None
        if now is None or now == oid or layout.run_of(path) is not None:
            continue
        cluster, _, inside = path.partition("/")
        folder, _, name = inside.rpartition("/")
        data = next(base.read([base.files[f"{cluster}/{layout.index_file(folder)}"]]))
        entry = (index.load(data, folder) or {}).get(name)
        if entry is not None:
            found[cluster][Target("runtime", entry.namespace or "", entry.name)] = entry
    return found


def removed_targets(base: Snapshot, tree: Tree, cluster: str) -> dict[Target, index.Entry]:
    """Return the targets of references that the base's indexes of a cluster have and none of today's."""
    changed = [path for path in base.indexes.get(cluster, ()) if base.files[path] != tree.ids.get(path)]
    if not changed:
        return {}
    now = [path for path in tree.ids if layout.is_shared_index(path, cluster)]
    kept = {target for path, data in zip(now, tree.contents(now), strict=True) for target in targets(path, data)}
    before = zip(changed, base.read([base.files[path] for path in changed]), strict=True)
    return {
        target: entry for path, data in before for target, entry in targets(path, data).items() if target not in kept
    }


def targets(path: str, data: bytes) -> dict[Target, index.Entry]:
    """Return the entries of an index that runs can refer to."""
    entries = index.load(data, layout.index_folder(path.partition("/")[2])) or {}
    return {
        Target(KINDS[entry.kind], "" if entry.kind in CLUSTER_WIDE else entry.namespace or "", entry.name): entry
        for entry in entries.values()
        if entry.kind in KINDS
    }


def needed_references(base: Snapshot, runs: Sequence[Wanted]) -> Iterator[tuple[Wanted, set[Reference]]]:
    """Yield each run with what its objects at the base refer to."""
    selectors: dict[str, Selectors] = {}
    for run in runs:
        files = base.folder(f"{run.cluster}/{run.folder}")
        needs: set[Reference] = set()
        if run.cluster not in selectors:
            selectors[run.cluster] = flavor_labels(base, run.cluster)
        for name, data in zip(files, base.read(list(files.values())), strict=True):
            for document in load(data, file=name)[0]:
                needs.update(references(document.value, selectors[run.cluster]))
        yield run, needs


def flavor_labels(base: Snapshot, cluster: str) -> Selectors:
    """Return by pool the labels of the nodes of its flavor at the base."""
    files = base.of_cluster(cluster)
    paths = [path for path in files if path.rpartition("/")[2].startswith(FLAVORS)]
    found = {}
    for data in base.read([files[path] for path in paths]):
        for document in load(data, file="")[0]:
            name, labels = (value_at(document.value, path) for path in (("metadata", "name"), ("spec", "nodeLabels")))
            if isinstance(name, str) and isinstance(labels, Mapping) and labels:
                found[name] = labels
    return found
