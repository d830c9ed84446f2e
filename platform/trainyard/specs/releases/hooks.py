"""Releases whose webhooks nobody compared, so that objects are judged by those of another one."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.base.versions import exact
from trainyard.specs.releases.load import releases


def foreign_hooks(installed: Mapping[str, str]) -> list[str]:
    """Return in words whose webhooks were never compared, and of which release ours are, for releases by operator."""
    found = []
    for name, version in sorted(installed.items()):
        facts = releases().get(name)
        instead = facts.hooks_as(version) if facts is not None else None
        if instead is not None and not exact(version, instead):
            found.append(f"webhooks of {name} {version} are checked as those of {instead}")
    return found
