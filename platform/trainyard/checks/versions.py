"""Reads `--with PROJECT=RELEASE`."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.errors import TrainyardError


def parse_projects(given: Iterable[str] | None) -> dict[str, str] | None:
    """Return the release of each project named, or None where none is; raises TrainyardError for another form."""
    entries = [entry.strip() for text in given or () for entry in text.split(",") if entry.strip()]
    if not entries:
        return None
    projects: dict[str, str] = {}
    for entry in entries:
        name, equals, release = entry.partition("=")
        if not equals or not name or not release:
            raise TrainyardError(f"--with {entry!r} should be PROJECT=RELEASE, as in kueue=0.19.2")
        projects[name.strip()] = release.strip()
    return projects
