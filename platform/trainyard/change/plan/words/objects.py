"""What happens to the platform, in the words of its specs, and to single objects, in those of Kubernetes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from trainyard.base.findings import count_of
from trainyard.change.plan.effects import ObjectEffect, Plan, Sync

NOTES = {
    "hardware": "synced by hand; drains or reboots nodes",
    "nodes": "for the node image; never synced",
    "argocd": "how Argo CD syncs the cluster",
}
"""What is special about a folder."""

SYNCS: dict[Sync, str] = {
    "replace": "deleted and recreated",
    "refuse": "refused by the API server",
    "by hand": "needs a manual sync",
    "keep": "kept in the cluster",
}
"""What Argo CD does with an object, where that is not simply what a sync does."""

SHOWN = 4
"""Objects of a group that are named."""


def platform_lines(plan: Plan, cluster: str) -> Iterator[str]:
    """Yield the changes of a cluster's file; without a cluster, of the files of teams and the repository."""
    for change in plan.platform:
        if (cluster in change.clusters) if cluster else not change.clusters:
            mark = "! " if change.danger else ""
            yield f"{mark}{change.what}{f' ({change.reach})' if change.reach and plan.live else ''}"


def object_lines(plan: Plan, cluster: str, *, everything: bool = False) -> Iterator[str]:
    """Yield the changed folders of a cluster, those with equal changes together, each with a line for equal objects.

    Of an object whose change the specs say in their own words, its fields are left out unless everything is asked.
    """
    folders: dict[str, list[ObjectEffect]] = defaultdict(list)
    for effect in plan.objects:
        if effect.cluster == cluster:
            folders[effect.folder].append(effect)
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for folder, effects in sorted(folders.items()):
        note = NOTES.get(folder.partition("/")[0])
        alike[(f" ({note})" if note else "", *lines_of(effects, folder, everything=everything))].append(folder)
    if alike:
        yield sync_counts([obj for obj in plan.objects if obj.cluster == cluster])
    for (note, *lines), names in alike.items():
        yield f"{', '.join(names)}{note}"
        yield from (f"  {line}" for line in lines)


def lines_of(effects: Iterable[ObjectEffect], folder: str, *, everything: bool) -> Iterator[str]:
    """Yield a line for each group of objects of one kind to which the same happens."""
    groups: dict[tuple[str, str, str, tuple[str, ...], int, str], list[str]] = defaultdict(list)
    for effect in effects:
        known = effect.object.namespace in {None, folder.rpartition("/")[2]}
        within = "" if known else f"{effect.object.namespace}/"
        fields, more = (
            (effect.fields, effect.more) if everything or not effect.told else ((), len(effect.fields) + effect.more)
        )
        by_hand = effect.sync == "by hand" and folder.partition("/")[0] in NOTES
        done = "" if by_hand else SYNCS.get(effect.sync, "")
        groups[effect.word, effect.object.kind, within, fields, more if fields else 0, done].append(effect.object.name)
    for (word, kind, within, fields, more, done), names in groups.items():
        shown = within + ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
        what = f"{kind} {shown}".rstrip() if len(names) == 1 else f"{len(names)} {kind} ({shown})"
        change = ", ".join(fields) + (f" and {more} more" if more else "")
        yield f"{word} {what}{f', {done}' if done else ''}{f': {change}' if change else ''}"


def sync_counts(effects: Iterable[ObjectEffect]) -> str:
    """Return how many objects Argo CD treats in which way."""
    names: dict[Sync, str] = {
        "create": "created",
        "in place": "updated in place",
        "prune": "pruned",
        "keep": "removed here but kept in the cluster",
        "replace": "deleted and recreated",
        "refuse": "refused by the API server",
        "by hand": "waiting for a manual sync",
        "never": "not synced",
    }
    found: dict[Sync, int] = defaultdict(int)
    for effect in effects:
        found[effect.sync] += 1
    said = [f"{found[word]} {name}" for word, name in names.items() if found[word]]
    count = count_of(sum(found.values()), "object")
    if len(said) == 1:
        return f"{count} {said[0].partition(' ')[2]}"
    return f"{count}: {', '.join(said)}" if said else ""
