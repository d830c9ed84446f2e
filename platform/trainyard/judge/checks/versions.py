"""Reads `--kubernetes RELEASE` and `--with PROJECT=RELEASE`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trainyard.base.errors import TrainyardError

RELEASE = re.compile(r"v?\d+(\.\d+)*([-+][0-9A-Za-z.+-]+)?")
TAG = re.compile(r"(?:[A-Za-z][0-9A-Za-z]*[-/])+(?=v?\d)")
"""What a repository of several programs puts before a release, as in `operator-1.4.8`."""


def parse_kubernetes(given: str | None) -> str | None:
    """Return the release of Kubernetes, or None where none is given; raises TrainyardError for what is no release."""
    if given is not None and not RELEASE.fullmatch(given.strip()):
        raise TrainyardError(f"--kubernetes {given!r} must be a release, as in 1.35")
    return given


def parse_projects(given: Iterable[str] | None) -> dict[str, str] | None:
    """Return the release of each project named, or None where none is; raises TrainyardError for another form."""
    entries = [entry.strip() for text in given or () for entry in text.split(",") if entry.strip()]
    if not entries:
        return None
    projects: dict[str, str] = {}
    for entry in entries:
        name, _, tag = (part.strip() for part in entry.partition("="))
        release = TAG.sub("", tag, count=1)
        if not name or not RELEASE.fullmatch(release):
            raise TrainyardError(f"--with {entry!r} must be PROJECT=RELEASE, as in kueue=0.19.2")
        if name.lower() in ("kubernetes", "k8s"):
            raise TrainyardError(f"--with {entry!r} is not an operator; write --kubernetes {release}")
        if projects.setdefault(name, release) != release:
            raise TrainyardError(f"--with lists {name!r} twice, {projects[name]} and {release}; keep one")
    return projects
