"""Changes of clusters, teams and the repository in the words of their files, and what each does to runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from trainyard.documents.differences import flat, told
from trainyard.manifests import value_at
from trainyard.plan.effects import SpecChange
from trainyard.plan.words.clusters import ClusterWords, Site
from trainyard.plan.words.fields import filled, phrase, waiver
from trainyard.plan.words.teams import TeamWords
from trainyard.system.repository import CLUSTERS, SETTINGS, TEAMS


def spec_changes(files: Mapping[str, tuple[Any, Any]], site: Site) -> Iterator[SpecChange]:
    """Yield what changes in the files of clusters, teams and the repository, each given as before and after."""
    for file, (before, after) in sorted(files.items()):
        name = file.rpartition("/")[2].removesuffix(".yaml")
        if file.startswith(f"{CLUSTERS}/"):
            yield from whole(
                file, (name,), f"cluster {name}", before, after, ClusterWords(file, name, before, after, site).changes
            )
        elif file.startswith(f"{TEAMS}/"):
            yield from whole(file, (), f"team {name}", before, after, TeamWords(file, name, before, after).changes)
        elif file == SETTINGS:
            yield from settings(file, before, after)


def whole(
    file: str,
    clusters: tuple[str, ...],
    what: str,
    before: Any,
    after: Any,
    changes: Callable[[], Iterable[SpecChange]],
) -> Iterator[SpecChange]:
    """Yield that a file is new or gone, else what changes in it."""
    if not isinstance(before, Mapping) and isinstance(after, Mapping):
        yield SpecChange(file, clusters, f"{what} is new")
    elif isinstance(before, Mapping) and after is None:
        yield SpecChange(file, clusters, f"{what} goes")
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from changes()


def settings(file: str, before: Any, after: Any) -> Iterator[SpecChange]:
    """Yield what changes in the repository's own file."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return
    for each in told(*filled(before, after)):
        if (found := waiver(each, "the repository", after)) is not None:
            yield SpecChange(file, (), found[0], "", found[1])
            continue
        match each.way:
            case ("policies", str(policy)) if each.after is not None:
                yield SpecChange(
                    file,
                    (),
                    f"policy {policy} is off: {flat(value_at(after, each.way))}",
                    "",
                    f"policy {policy} is switched off",
                )
            case ("policies", str(policy)):
                yield SpecChange(file, (), f"policy {policy} is on again")
            case ("registries", *_):
                more = f"images may come from {each.after} too" if each.after is not None else ""
                yield SpecChange(file, (), phrase("registries", each), "", more)
            case _:
                yield SpecChange(file, (), phrase(each.path, each))
