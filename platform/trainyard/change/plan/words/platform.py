"""Changes of clusters, teams and the repository in the words of their files, and what each does to runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.documents.differences import field_changes, flat
from trainyard.base.manifests import value_at
from trainyard.base.system.repository import CLUSTERS, SETTINGS, TEAMS
from trainyard.change.plan.effects import SpecChange
from trainyard.change.plan.words.clusters import ClusterWords, Site
from trainyard.change.plan.words.fields import fill, phrase, waiver
from trainyard.change.plan.words.teams import TeamWords


def spec_changes(files: Mapping[str, tuple[Any, Any]], site: Site) -> Iterator[SpecChange]:
    """Yield the changes of the files of clusters, teams and the repository, each given before and after."""
    for file, (before, after) in sorted(files.items()):
        name = file.rpartition("/")[2].removesuffix(".yaml")
        if file.startswith(f"{CLUSTERS}/"):
            yield from file_changes(
                file, (name,), f"cluster {name}", before, after, ClusterWords(file, name, before, after, site).changes
            )
        elif file.startswith(f"{TEAMS}/"):
            yield from file_changes(
                file, (), f"team {name}", before, after, TeamWords(file, name, before, after).changes
            )
        elif file == SETTINGS:
            yield from settings(file, before, after)


def file_changes(
    file: str,
    clusters: tuple[str, ...],
    what: str,
    before: Any,
    after: Any,
    changes: Callable[[], Iterable[SpecChange]],
) -> Iterator[SpecChange]:
    """Yield a line for a new or removed file, else a line for each changed field."""
    if not isinstance(before, Mapping) and isinstance(after, Mapping):
        yield SpecChange(file, clusters, f"{what} is new")
    elif isinstance(before, Mapping) and after is None:
        yield SpecChange(file, clusters, f"{what} is removed")
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from changes()


def settings(file: str, before: Any, after: Any) -> Iterator[SpecChange]:
    """Yield the changes of the repository's own file."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return
    for item in field_changes(*fill(before, after)):
        if (found := waiver(item, "the repository", after)) is not None:
            yield SpecChange(file, (), found[0], "", found[1])
            continue
        match item.way:
            case ("policies", str(policy)) if item.after is not None:
                yield SpecChange(
                    file,
                    (),
                    f"policy {policy} is switched off: {flat(value_at(after, item.way))}",
                    "",
                    f"policy {policy} is switched off",
                )
            case ("policies", str(policy)):
                yield SpecChange(file, (), f"policy {policy} is switched on again")
            case ("registries", *_):
                more = f"images may now also come from {item.after}" if item.after is not None else ""
                yield SpecChange(file, (), phrase("registries", item), "", more)
            case _:
                yield SpecChange(file, (), phrase(item.path, item))
