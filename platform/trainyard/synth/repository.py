"""A repository's specs in the terms of runs and folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard import catalogue
from trainyard.documents import load
from trainyard.findings import Location
from trainyard.specs.sources import Specs
from trainyard.synth.assemble import Terms
from trainyard.system import files
from trainyard.system.data import policy_files
from trainyard.system.repository import SETTINGS
from trainyard.tree.origins import locator


def terms(specs: Specs, version: str) -> Terms:
    """Return what the specs say about all of the tree."""
    repository = specs.sources.get("repository")
    setting = repository.location(("live",)) if repository else Location(SETTINGS)
    return Terms(specs.repository.live, setting, version, locator(specs))


def shipped(root: Path) -> list[Mapping[str, Any]]:
    """Return the policies in CEL, which clusters enforce too, by name; raises TrainyardError for a broken one."""
    found: list[Mapping[str, Any]] = []
    for path in (each for each in policy_files(root) if each.suffix == ".yaml"):
        catalogue.of_cel(path)
        found.append(load(files.read(path) or b"", file=path.name)[0][0].value)
    return found
