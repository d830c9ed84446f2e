"""What an installation of Trainyard brings along, at the releases that constraints.txt pins.

    python tools/closure.py --extra synth    # prints `name==release` a line

The environment at hand has to hold those releases, since their own requirements are read from it. Markers are those of
CPython 3.11 on Linux, whatever this machine is, so that everybody gets the same list.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
MACHINE = {
    "implementation_name": "cpython",
    "implementation_version": "3.11.0",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_release": "",
    "platform_system": "Linux",
    "platform_version": "",
    "python_full_version": "3.11.0",
    "python_version": "3.11",
    "sys_platform": "linux",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One package of the list."""

    name: str
    release: str
    needs: tuple[str, ...]
    """Names of what it requires itself, sorted."""
    licence: str
    """Its SPDX expression; empty where its metadata has none."""


def pinned(file: Path = ROOT / "constraints.txt") -> dict[str, str]:
    """Return the release of each package by its name, those of files that are included too."""
    found: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if included := re.match(r"(?:-c|--constraint)\s+(\S+)", line):
            found |= pinned(file.parent / included[1])
        elif "==" in line:
            name, _, release = line.partition("==")
            found[canonicalize_name(name)] = release.strip()
    return found


def own_requirements(extras: Iterable[str]) -> list[Requirement]:
    """Return the requirements of our own project, with extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    return [
        Requirement(dependency)
        for dependency in [*project["dependencies"], *(text for name in extras for text in optional[name])]
    ]


def direct(extras: Iterable[str]) -> list[str]:
    """Return the names of what our own project requires, with extras, on that machine."""
    wanted = (
        requirement
        for requirement in own_requirements(extras)
        if requirement.marker is None or requirement.marker.evaluate({**MACHINE, "extra": ""})
    )
    return sorted({canonicalize_name(requirement.name) for requirement in wanted})


def required(name: str, release: str, extras: frozenset[str], machine: Mapping[str, str]) -> Iterator[Requirement]:
    """Yield the requirements of an installed package; exits where another release is installed than is pinned."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        sys.exit(f"{name}=={release} is not installed; run `make setup`")
    if about["Version"] != release:
        sys.exit(f"{name} {about['Version']} is installed, but {release} is pinned; run `make setup`")
    for line in about.get_all("Requires-Dist") or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({**machine, "extra": extra}) for extra in ("", *extras)):
            yield requirement


def closure(extras: Iterable[str]) -> list[Part]:
    """Return every package that comes along with our own, sorted by name; exits where one is not pinned."""
    return brought(own_requirements(extras), pinned(), MACHINE)


def brought(waiting: list[Requirement], pins: Mapping[str, str], machine: Mapping[str, str]) -> list[Part]:
    """Return the parts that requirements bring along on a machine, by name; exits where a package is not pinned."""
    seen, parts = dict[str, set[str]](), dict[str, Part]()
    waiting = [
        one_requirement
        for one_requirement in waiting
        if one_requirement.marker is None or one_requirement.marker.evaluate({**machine, "extra": ""})
    ]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        before = seen.get(name)
        wanted = (before or set()) | requirement.extras
        if before is not None and wanted == before:
            continue
        seen[name] = wanted
        if name not in pins:
            sys.exit(f"{name} is not pinned; add it to constraints.txt")
        needs = list(required(name, pins[name], frozenset(wanted), machine))
        names = tuple(sorted({canonicalize_name(need.name) for need in needs}))
        parts[name] = Part(name, pins[name], names, metadata(name).get("License-Expression") or "")
        waiting += needs
    return [parts[name] for name in sorted(parts)]


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extra", action="append", default=[])
    for part in closure(parser.parse_args().extra):
        print(f"{part.name}=={part.release}")


if __name__ == "__main__":
    main()
