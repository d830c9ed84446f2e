"""Repositories of one's own, as `init` begins them, and wheels to begin them with."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import yaml

from command import Done, call
from trainyard import __version__

FILE = f"trainyard_gitops-{__version__}-py3-none-any.whl"
ADDRESS = f"https://files.example.com/{FILE}"
PINNED = f"{ADDRESS}#sha256={'ab' * 32}"


def begin(folder: Path, *options: str) -> Done:
    """Call `init` for a folder, from the one above it, with a wheel by its address."""
    return call(folder.parent, "init", folder.name, "--wheel", PINNED, *options)


def wheel(folder: Path, *, name: str = "trainyard-gitops", file: str = FILE) -> Path:
    """Write what looks like a wheel as far as `init` looks into it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"x-{__version__}.dist-info/METADATA", f"Metadata-Version: 2.4\nName: {name}\n")
    return path


def settings(folder: Path) -> Any:
    """Return what a repository says of itself."""
    return yaml.safe_load((folder / "platform/repository.yaml").read_text())


def files(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder but Git's, by its path."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found if ".git" not in path.parts}
