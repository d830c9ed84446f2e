"""Write down the hashes of everything that is installed, from the releases that constraints.txt pins.

    python tools/lock.py                     # the locks that `make setup` and new repositories install
    python tools/lock.py train --also DIR    # another; DIR has its packages, as a virtual environment's site-packages

Hashes are those that the index of this machine's pip lists, of wheels alone: a source package would run code of its own
while it is installed. A lock is for CPython 3.11 to 3.14 on Linux and macOS; what only some of them need has a marker.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from pip._internal.models.index import PyPI

from closure import MACHINE, ROOT, brought, own_requirements, pinned

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS = {"linux": "Linux", "darwin": "Darwin"}
FORMAT = "application/vnd.pypi.simple.v1+json"
"""The index as JSON (PEP 691)."""
PLATFORMS = re.compile(r"any|manylinux\w*_(?:x86_64|aarch64)|macosx_\w+_(?:x86_64|arm64|universal2)")
INTERPRETERS = re.compile(r"py3|py2\.py3|py311|cp3(?:11|12|13|14)")


@dataclass(frozen=True, slots=True)
class Lock:
    """One list of what is installed together."""

    file: str
    about: str
    """Its first line."""
    extras: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    """What is installed beside what our own project requires."""
    pinned: bool = True
    """Whether constraints.txt has its releases; else they are those of the environment at hand."""
    sources: bool = False
    """Whether packages without a wheel are taken as source."""


LOCKS = {
    "adopters": Lock(
        "platform/trainyard/faces/drafts/skeleton/base/install/requirements.txt",
        "What Trainyard needs to judge and to render, at the releases that were tested together, by hash.",
        ("synth",),
    ),
    "develop": Lock("tools/locks/develop.txt", "What `make setup` installs.", ("synth", "live", "dev")),
    "site": Lock("tools/locks/site.txt", "What `make site` installs beside that.", ("site",)),
    "train": Lock("tools/locks/train.txt", "What training programs need to train here.", ("train",)),
    "pipelines": Lock(
        "tools/locks/pipelines.txt",
        "What compiling pipelines needs.",
        ("pipelines",),
        ("hatchling",),
        pinned=False,
        sources=True,
    ),
}
USUAL = ("adopters", "develop")


def machines() -> Iterator[dict[str, str]]:
    """Yield the machines that a lock is for."""
    for python in PYTHONS:
        for system, name in SYSTEMS.items():
            versions = {"python_version": python, "python_full_version": f"{python}.0"}
            yield {**MACHINE, **versions, "sys_platform": system, "platform_system": name}


def marker(where: list[tuple[str, str]]) -> str:
    """Return the condition under which a package is needed, by the Pythons and systems that need it."""
    systems, pythons = sorted({system for _, system in where}), sorted({python for python, _ in where})
    parts = [f'sys_platform == "{systems[0]}"'] if len(systems) == 1 else []
    if pythons != sorted(PYTHONS) and len(where) == len(systems) * len(pythons):
        parts.append(" or ".join(f'python_version == "{python}"' for python in pythons))
    return " and ".join(f"({part})" if len(parts) > 1 and " or " in part else part for part in parts)


def locked_packages(lock: Lock) -> dict[str, tuple[str, str]]:
    """Return release and condition of each package of a lock by its name."""
    pins = pinned() if lock.pinned else installed()
    where = dict[str, list[tuple[str, str]]]()
    releases = dict[str, str]()
    for machine in machines():
        wanted = [*own_requirements(lock.extras), *(Requirement(requirement) for requirement in lock.more)]
        for part in brought(wanted, pins, machine):
            where.setdefault(part.name, []).append((machine["python_version"], machine["sys_platform"]))
            releases[part.name] = part.release
    return {name: (releases[name], marker(where[name])) for name in sorted(where)}


def installed() -> Mapping[str, str]:
    """Return the releases that the environment at hand has; of two of one name the one that is imported."""
    found = dict[str, str]()
    for distribution in distributions():
        found.setdefault(canonicalize_name(distribution.metadata["Name"]), distribution.version)
    return found


def hashes(name: str, release: str, *, sources: bool) -> list[str]:
    """Return the digests of a release's wheels, sorted, or of its source; exits where it has neither."""
    request = urllib.request.Request(f"{PyPI.simple_url}/{name}/", headers={"Accept": FORMAT})
    with urllib.request.urlopen(request, timeout=120) as answer:
        files = json.load(answer)["files"]
    digests = {file["filename"]: file["hashes"]["sha256"] for file in files}
    found = sorted(digest for file, digest in digests.items() if fits(file, release))
    if not found and sources:
        found = [digest for file, digest in digests.items() if file.endswith(f"-{release}.tar.gz")]
    if not found:
        sys.exit(f"{name}=={release} has no wheel that fits; pin a release that has")
    return found


def fits(file: str, release: str) -> bool:
    """Say whether a file is a wheel of a release that one of the machines could install."""
    try:
        _, version, _, tags = parse_wheel_filename(file)
    except InvalidWheelFilename:
        return False
    return str(version) == release and any(usable(tag) for tag in tags)


def usable(tag: Tag) -> bool:
    """Say whether one of the machines takes wheels of a tag; `abi3` ones are for all later Pythons, too."""
    older = tag.abi == "abi3" and re.fullmatch(r"cp3\d+", tag.interpreter)
    if not (older or INTERPRETERS.fullmatch(tag.interpreter)) or tag.abi.endswith("t"):
        return False
    return PLATFORMS.fullmatch(tag.platform) is not None


def text(lock: Lock) -> str:
    """Return a lock as pip reads it."""
    packages = locked_packages(lock)
    with ThreadPoolExecutor(8) as pool:
        asked_for = partial(hashes, sources=lock.sources)
        digests = list(pool.map(asked_for, packages, (release for release, _ in packages.values())))
    lines = [f"# {lock.about} Written by tools/lock.py."]
    for (name, (release, condition)), digest in zip(packages.items(), digests, strict=True):
        head = f"{name}=={release}" + (f" ; {condition}" if condition else "")
        lines.append(" \\\n    ".join([head, *(f"--hash=sha256:{digest}" for digest in digest)]))
    return "\n".join(lines) + "\n"


def write(names: Iterable[str]) -> None:
    """Write locks."""
    for name in names:
        path = ROOT / LOCKS[name].file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text(LOCKS[name]), encoding="utf-8")


def main() -> None:
    """Write the locks that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locks", nargs="*", choices=[[], *LOCKS], default=[])
    parser.add_argument("--also", type=Path, action="append", default=[], help="a folder of packages")
    options = parser.parse_args()
    sys.path[:0] = [str(folder) for folder in options.also]
    write(options.locks or USUAL)


if __name__ == "__main__":
    main()
