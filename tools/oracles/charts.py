"""Fetches the charts of schemas/lock.yaml from the Git repositories of their projects, for Helm's oracle.

A chart in Git has the version of its repository; the one that is published has the version of the release. It is
written as `helm package --version --app-version` writes it. A chart inside it that Git does not hold is fetched from
the tag of its own project, where the lock names that project.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

Locked = Mapping[str, Mapping[str, Mapping[str, Any]]]

HOST = "https://github.com/"
BUNDLED = "bundled"


def published_charts(charts: Locked, projects: frozenset[str]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield name, release and origin of the charts of some projects that are published by themselves."""
    for name, releases in charts.items():
        for release, origin in releases.items():
            if origin.get("published") != BUNDLED and origin["project"] in projects:
                yield name, release, origin


def fetch(charts: Locked, projects: frozenset[str], folder: Path) -> None:
    """Write every chart of the projects to `<name>/<release>/`."""
    for name, release, origin in published_charts(charts, projects):
        place = folder / name / release
        export(origin["repository"], origin["tag"], origin["path"], place)
        stamp(place / "Chart.yaml", origin["version"], origin["tag"])
        for inner, version, source in absent(place):
            found = next(iter(charts.get(inner, {}).values()), None)
            target = place / "charts" / inner
            if found is not None:
                export(found["repository"], f"v{version.removeprefix('v')}", found["path"], target)
            elif source == pages(origin["repository"]) and "*" not in version:
                export(origin["repository"], f"{inner}-{version}", f"{Path(origin['path']).parent}/{inner}", target)


def export(repository: str, tag: str, path: str, place: Path) -> None:
    """Write a folder of a tag of a repository to a place, and what links in it point to; nothing else is downloaded."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder).resolve()
        one = ["--depth", "1", "--branch", tag, "--filter", "blob:none", "--sparse", "--no-tags"]
        git("clone", "--quiet", "-c", "advice.detachedHead=false", *one, f"{HOST}{repository}.git", folder)
        git("-C", folder, "sparse-checkout", "set", "--no-cone", f"/{path}/")
        while broken := [link for link in clone.rglob("*") if link.is_symlink() and not link.exists()]:
            aims = {Path(os.path.normpath(link.parent / link.readlink())).relative_to(clone) for link in broken}
            git("-C", folder, "sparse-checkout", "add", *(f"/{aim.as_posix()}" for aim in sorted(aims)))
        shutil.copytree(clone / path, place)


def git(*arguments: str) -> None:
    """Run Git."""
    subprocess.run(["git", *arguments], check=True)


def stamp(file: Path, version: str, tag: str) -> None:
    """Write the published version into a chart of another one, and the tag as the version of what it installs."""
    text = file.read_text(encoding="utf-8")
    if yaml.safe_load(text)["version"].removeprefix("v") == version.removeprefix("v"):
        return
    for field, value in (("version", version), ("appVersion", tag)):
        text = re.sub(rf"^{field}:.*$", f'{field}: "{value}"', text, flags=re.MULTILINE)
    file.write_text(text, encoding="utf-8")


def pages(repository: str) -> str:
    """Return the address at which a repository of charts publishes them; each has tags of its own there."""
    owner, _, name = repository.partition("/")
    return f"https://{owner}.github.io/{name}"


def absent(place: Path) -> Iterator[tuple[str, str, str]]:
    """Yield name, version and address of the charts that a chart needs and that are not in its folder."""
    for needed in yaml.safe_load((place / "Chart.yaml").read_text(encoding="utf-8")).get("dependencies") or ():
        if not (place / "charts" / needed["name"]).is_dir():
            yield needed["name"], str(needed["version"]), str(needed.get("repository", ""))
