"""What happens to the platform, in the words of its specs, and to single objects, in those of Kubernetes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from trainyard.findings import counted
from trainyard.plan.effects import ObjectEffect, Plan, Sync

NOTES = {
    "hardware": "synced by hand, drains or reboots nodes",
    "nodes": "for the node image, never synced",
    "argocd": "how Argo CD syncs the cluster",
}
"""What is special about a folder."""

SYNCS: dict[Sync, str] = {
    "replace": "deleted and made anew",
    "refuse": "refused",
    "by hand": "waits for a person",
    "keep": "kept in the cluster",
}
"""What Argo CD does with an object, where that is not simply what a sync does."""

SHOWN = 4
"""Objects of a group that are named."""


def platform_lines(plan: Plan, cluster: str) -> Iterator[str]:
    """Yield what changes in the file of a cluster; for no cluster, in those of teams and the repository."""
    for each in plan.platform:
        if (cluster in each.clusters) if cluster else not each.clusters:
            mark = "! " if each.danger else ""
            yield f"{mark}{each.what}{f' ({each.reach})' if each.reach and plan.live else ''}"


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
        yield synced([each for each in plan.objects if each.cluster == cluster])
    for (note, *lines), names in alike.items():
        yield f"{', '.join(names)}{note}"
        yield from (f"  {line}" for line in lines)


def lines_of(effects: Iterable[ObjectEffect], folder: str, *, everything: bool) -> Iterator[str]:
    """Yield a line for each group of objects of one kind to which the same happens."""
    groups: dict[tuple[str, str, str, tuple[str, ...], int, str], list[str]] = defaultdict(list)
    for each in effects:
        known = each.object.namespace in {None, folder.rpartition("/")[2]}
        within = "" if known else f"{each.object.namespace}/"
        fields, more = (each.fields, each.more) if everything or not each.told else ((), len(each.fields) + each.more)
        by_hand = each.sync == "by hand" and folder.partition("/")[0] in NOTES
        done = "" if by_hand else SYNCS.get(each.sync, "")
        groups[each.word, each.object.kind, within, fields, more if fields else 0, done].append(each.object.name)
    for (word, kind, within, fields, more, done), names in groups.items():
        shown = within + ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
        what = f"{kind} {shown}".rstrip() if len(names) == 1 else f"{len(names)} {kind} ({shown})"
        change = ", ".join(fields) + (f" and {more} more" if more else "")
        yield f"{word} {what}{f', {done}' if done else ''}{f': {change}' if change else ''}"


def synced(effects: Iterable[ObjectEffect]) -> str:
    """Return what Argo CD does with objects, counted."""
    names: dict[Sync, str] = {
        "create": "created",
        "in place": "changed in place",
        "prune": "pruned",
        "keep": "kept though they go",
        "replace": "deleted and made anew",
        "refuse": "refused",
        "by hand": "waiting for a person",
        "never": "not synced",
    }
    found: dict[Sync, int] = defaultdict(int)
    for each in effects:
        found[each.sync] += 1
    said = [f"{found[word]} {name}" for word, name in names.items() if found[word]]
    return f"{counted(sum(found.values()), 'object')}: {', '.join(said)}" if said else ""
