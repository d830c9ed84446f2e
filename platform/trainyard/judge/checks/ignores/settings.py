"""Finds `.trainyard.yaml` from a file upwards, and says what it means for the file; the nearest one counts alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.base.findings import Finding, Location
from trainyard.base.system import files
from trainyard.base.system.files import PIPED
from trainyard.base.system.ignored import patterns_of
from trainyard.base.system.repository import GENERATED, SPECS, is_repository
from trainyard.judge.checks.ignores.names import ANY, Names, fits
from trainyard.judge.checks.ignores.rules import SETTINGS

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from trainyard.base.documents import Document
    from trainyard.base.documents import Path as FieldPath
    from trainyard.specs.models.ignores import ChecksFile

NAME, MISNAMED = ".trainyard.yaml", ".trainyard.yml"
OWN = tuple(f"{part}/" for part in (*SPECS, "policies", GENERATED))
"""The places that waivers are for, in a repository of ours: there neither comments nor settings count."""


@dataclass(frozen=True, eq=False)
class Settings:
    """One file of settings; with an error in it, what is left counts."""

    folder: Path
    file: str
    """Its name in findings."""
    said: ChecksFile
    document: Document | None = None
    findings: tuple[Finding, ...] = ()

    def location(self, path: FieldPath, *, key: bool = False) -> Location:
        """Return where a field stands."""
        return self.document.location(path, key=key) if self.document else Location(self.file)

    def where(self, project: str) -> Location:
        """Return where the release of a project, or `kubernetes`, is chosen."""
        return self.location((project,) if project == "kubernetes" else ("releases", project))

    def is_excluded(self, path: Path) -> bool:
        """Say whether a file is left out."""
        return bool(self.said.exclude) and self._excluded.match_file(path.relative_to(self.folder).as_posix())

    @cached_property
    def _excluded(self) -> GitIgnoreSpec:
        return patterns_of(self.said.exclude)

    @cached_property
    def _paths(self) -> list[tuple[str, GitIgnoreSpec]]:
        return [(pattern, patterns_of([pattern])) for pattern in reversed(self.said.paths)]

    def level(self, rule: str, path: Path) -> tuple[str, Location] | None:
        """Return how much a rule weighs in a file, and where that is written; None where nothing is said."""
        name = path.relative_to(self.folder).as_posix()
        for pattern, spec in self._paths:
            levels = self.said.paths[pattern]
            if (key := nearest(rule, levels)) is not None and spec.match_file(name):
                return levels[key], self.location(("paths", pattern, key), key=True)
        key = nearest(rule, self.said.rules)
        return None if key is None else (self.said.rules[key], self.location(("rules", key), key=True))

    def wrong_names(self, names: Names) -> Iterator[Finding]:
        """Yield a finding for each key that names no rule."""
        maps = [(("rules",), self.said.rules), *((("paths", glob), said) for glob, said in self.said.paths.items())]
        for path, levels in maps:
            for key in levels:
                if (problem := names.problem(key)) is not None:
                    yield SETTINGS.of(self.location((*path, key), key=True), problem)


def nearest(rule: str, levels: Mapping[str, str]) -> str | None:
    """Return the key that is meant for a rule: its id, or else the longest group."""
    keys = [key for key in levels if fits(key, rule)]
    return max(keys, key=lambda key: (not key.endswith(ANY), len(key)), default=None)


@dataclass(slots=True)
class Folders:
    """What counts in each folder, looked for once."""

    base: Path = Path()
    """The folder from which relative paths lead."""
    _settings: dict[Path, Settings | None] = field(default_factory=dict)
    _roots: dict[Path, tuple[Path, ...]] = field(default_factory=dict)
    _resolved: dict[Path, Path] = field(default_factory=dict)

    def settings(self, name: str) -> Settings | None:
        """Return the settings that count for a file; none for what is a spec or generated in a repository of ours."""
        return None if self.is_own(name) else self._above(self.path(name).parent)

    def is_outside(self, name: str) -> bool:
        """Say whether a file is in no repository of ours, so that policies only advise."""
        return not self._roots_above(self.path(name).parent)

    def is_own(self, name: str) -> bool:
        """Say whether waivers are for a file: a spec, a policy or what is generated, in a repository of ours."""
        path = self.path(name)
        inside = (f"{path.relative_to(root).as_posix()}/" for root in self._roots_above(path.parent))
        return any(place.startswith(OWN) for place in inside)

    def all(self) -> list[Settings]:
        """Return all settings that were found."""
        return list({id(found): found for found in self._settings.values() if found is not None}.values())

    def path(self, name: str) -> Path:
        """Return the path of a file from the root; standard input is in the current folder. A link is itself."""
        if name == PIPED:
            return Path.cwd() / name
        path = self.base / name
        folder = path.parent
        if folder not in self._resolved:
            self._resolved[folder] = folder.resolve()
        return self._resolved[folder] / path.name

    def _roots_above(self, folder: Path) -> tuple[Path, ...]:
        if folder not in self._roots:
            above = () if folder.parent == folder else self._roots_above(folder.parent)
            self._roots[folder] = (*above, folder) if is_repository(folder) else above
        return self._roots[folder]

    def _above(self, folder: Path) -> Settings | None:
        if folder not in self._settings:
            top = folder.parent == folder or (folder / ".git").exists()
            found = load(folder)
            self._settings[folder] = found or (None if top else self._above(folder.parent))
        return self._settings[folder]


def load(folder: Path) -> Settings | None:
    """Return the settings in a folder, None where it has none; what is wrong with them is among the findings.

    A link is not followed, since a message may quote what it leads to.
    """
    path = next((folder / name for name in (NAME, MISNAMED) if os.path.lexists(folder / name)), None)
    if path is None:
        return None
    from trainyard.specs.models.ignores import ChecksFile  # which takes long to import, and few have such a file
    from trainyard.specs.reading import document
    from trainyard.specs.reading.rules import RULES

    name = os.path.relpath(path)
    data = files.read(path)
    if data is None:
        why = "symbolic-link" if path.is_symlink() else "not-a-file"
        message = f"{NAME} is no plain file, so it was not read; write a plain file there"
        return Settings(folder, name, ChecksFile(), None, (RULES[why].of(Location(name), message),))
    if path.name == MISNAMED:
        ending = RULES["file-ending"].of(Location(name), f"file is named {MISNAMED}; rename it to {NAME}")
        return Settings(folder, name, ChecksFile(), None, (ending,))
    source, findings = document.read(name, data)
    if source is None or source.document is None:
        return Settings(folder, name, ChecksFile(), None, tuple(findings))
    said, wrong = document.validate(ChecksFile, source)
    if said is None:
        said, _ = document.salvage(ChecksFile, source, wrong, {})
    return Settings(folder, name, said or ChecksFile(), source.document, (*findings, *wrong))
