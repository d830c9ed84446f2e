"""The files of one release of a project: from the archive of its Go module, or from its repository."""

from __future__ import annotations

import json
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from updates.registries import HOST, Answer, output_of


class Tree(Protocol):
    """The files of a repository at one commit, by their paths in it."""

    @property
    def commit(self) -> str | None:
        """Return the commit, where it is known."""

    def names(self) -> list[str]:
        """Return the paths of all files."""

    def read(self, name: str) -> bytes:
        """Return the contents of a file; raises KeyError where there is none."""


@dataclass(frozen=True)
class Archive:
    """The archive of a Go module, which holds the files of its folder without those of modules inside it."""

    file: Path
    prefix: str
    below: str
    commit: str | None = None

    def names(self) -> list[str]:
        """Return the paths of all files."""
        with zipfile.ZipFile(self.file) as archive:
            held = [name.removeprefix(self.prefix) for name in archive.namelist() if not name.endswith("/")]
        return [f"{self.below}/{name}" if self.below else name for name in held]

    def read(self, name: str) -> bytes:
        """Return the contents of a file."""
        with zipfile.ZipFile(self.file) as archive:
            return archive.read(self.prefix + (name.removeprefix(f"{self.below}/") if self.below else name))


@dataclass(frozen=True)
class Folder:
    """A clone of a repository."""

    root: Path
    commit: str | None = None

    def names(self) -> list[str]:
        """Return the paths of all files."""
        files = (path for path in self.root.rglob("*") if path.is_file())
        return [path.relative_to(self.root).as_posix() for path in files if ".git" not in path.parts]

    def read(self, name: str) -> bytes:
        """Return the contents of a file."""
        try:
            return (self.root / name).read_bytes()
        except OSError as error:
            raise KeyError(name) from error


def of_release(answer: Answer, release: str, scratch: Path) -> Tree:
    """Fetch the files of a release from where the project's row says."""
    project = answer.project
    if project.row.module:
        return of_module(project.row.module, release, project.row.below)
    place = scratch / f"{project.name}-{release}"
    address = f"{HOST}{project.repository}.git"
    tag = project.tag_of(release)
    output_of("git", "clone", "--quiet", "--depth", "1", "--branch", tag, address, str(place))
    return Folder(place, output_of("git", "-C", str(place), "rev-parse", "HEAD").strip())


def of_module(module: str, release: str, below: str) -> Archive:
    """Fetch the archive of a Go module; one that needs a newer Go than ours can be read all the same."""
    try:
        said = output_of("go", "mod", "download", "-json", f"{module}@v{release}")
    except subprocess.CalledProcessError as error:
        said = error.stdout
    facts = json.loads(said)
    if "Zip" not in facts:
        raise ValueError(facts.get("Error", f"{module} v{release} cannot be had"))
    origin = json.loads(Path(facts["Info"]).read_text(encoding="utf-8")).get("Origin", {})
    return Archive(Path(facts["Zip"]), f"{module}@v{release}/", below, origin.get("Hash"))
