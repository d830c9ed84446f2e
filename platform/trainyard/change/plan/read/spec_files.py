"""The files of specs on both sides of a change: changed ones are read at once, others once they are asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

from trainyard.base.system import files
from trainyard.base.system.git import Git
from trainyard.base.system.repository import CLUSTERS, JOBS, SETTINGS, TEAMS
from trainyard.render.tree.disk import Disk


class SpecFiles:
    """The specs at the base and at hand, by their files' names."""

    def __init__(self, root: Path, git: Git, commit: str | None, disk: Disk) -> None:
        self._root, self._git, self._disk = root, git, disk
        self._before = git.files(commit, JOBS, CLUSTERS, TEAMS, SETTINGS) if commit else {}
        self._texts: dict[str, tuple[bytes | None, bytes | None]] = {}

    @cached_property
    def _now(self) -> Mapping[str, str | None]:
        return {f"{top}/{path}": oid for top in (JOBS, CLUSTERS, TEAMS) for path, oid in self._disk.scan(top).items()}

    def changed(self, top: str) -> frozenset[str]:
        """Return the files below a folder that differ."""
        names = (name for name in {*self._before, *self._now} if name.startswith(f"{top}/"))
        return frozenset(name for name in names if self._before.get(name) != self._now.get(name))

    def fetch(self, names: Collection[str]) -> None:
        """Read files that are asked for soon."""
        oids = {name: oid for name in names if (oid := self._before.get(name)) and name not in self._texts}
        for name, data in zip(oids, self._git.read(oids.values()), strict=True):
            self._texts[name] = data, files.read(self._root / name)

    def __call__(self, name: str) -> tuple[bytes | None, bytes | None]:
        """Return the text of a file at the base and at hand."""
        if name not in self._texts:
            oid, now = self._before.get(name), files.read(self._root / name)
            if oid is None or oid == self._now.get(name):
                self._texts[name] = None if oid is None else now, now
            else:
                self.fetch([name])
        return self._texts[name]
