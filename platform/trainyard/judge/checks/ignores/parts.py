"""Parts files by the cluster that their settings describe: its releases, and whether the files are all that it has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trainyard.base.findings import Location
from trainyard.judge.checks.ignores.settings import MISNAMED, NAME, Folders, Settings
from trainyard.judge.checks.places import Place
from trainyard.judge.checks.result import Result

Input = tuple[str, bytes]
Key = tuple[str | None, tuple[tuple[str, str], ...] | None, bool]

EXCLUDED = f"file that {NAME} names"


@dataclass(slots=True)
class Part:
    """Files for one cluster."""

    kubernetes: str | None
    projects: Mapping[str, str] | None
    whole: bool
    where: Callable[[str], Location]
    files: list[Input] = field(default_factory=list)
    place: Place | None = None
    """The cluster of a repository whose file says the releases; default: what is said here."""

    @property
    def key(self) -> Key:
        """What tells it from other parts."""
        projects = None if self.projects is None else tuple(sorted(self.projects.items()))
        return self.kubernetes, projects, self.whole


def parts_of(inputs: Iterable[Input], folders: Folders, chosen: Part) -> list[Part]:
    """Return the files, parted by what their settings say of the cluster; what options say of it is in `chosen`.

    Without files there is one part.
    """
    found: dict[Key, Part] = {}
    for name, data in inputs:
        part = part_of(folders.settings(name), chosen)
        found.setdefault(part.key, part).files.append((name, data))
    return list(found.values()) or [replace(chosen, files=[])]


def part_of(settings: Settings | None, chosen: Part) -> Part:
    """Return the part to which a file with these settings belongs, without its files; options count first."""
    if settings is None:
        return replace(chosen, files=[])
    said = settings.said

    def place(project: str) -> Location:
        option = chosen.kubernetes if project == "kubernetes" else chosen.projects
        return settings.where(project) if option is None else chosen.where(project)

    kubernetes = said.kubernetes if chosen.kubernetes is None else chosen.kubernetes
    projects = said.releases if chosen.projects is None else chosen.projects
    return Part(kubernetes, projects, said.whole, place)


def join(parts: Sequence[Part], olds: Sequence[Part]) -> list[Part]:
    """Return the parts, and an empty one for each of which there were files before."""
    keys = {part.key for part in parts}
    return [*parts, *(replace(old, files=[]) for old in olds if old.files and old.key not in keys)]


def matching(parts: Iterable[Part], part: Part) -> list[Input]:
    """Return the files of the parts that are for the same cluster."""
    return [item for other in parts if other.key == part.key for item in other.files]


def read_included(inputs: Iterable[Input], folders: Folders, result: Result) -> Iterator[Input]:
    """Yield the files that settings do not exclude, and note all; the settings themselves are no manifest."""
    for name, data in inputs:
        result.read.add(name)
        path = folders.path(name)
        settings = folders.settings(name)
        if path.name in {NAME, MISNAMED}:
            continue
        if settings is not None and settings.is_excluded(path):
            result.passed[EXCLUDED] += 1
        else:
            yield name, data
