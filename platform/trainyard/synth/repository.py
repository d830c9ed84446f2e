"""A repository's specs in the terms of runs and folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard.findings import Location
from trainyard.policies.policy import usable
from trainyard.specs.sources import Specs
from trainyard.synth.assemble import Terms
from trainyard.system.data import policy_files
from trainyard.system.repository import SETTINGS
from trainyard.tree.origins import locator


def terms(specs: Specs, version: str) -> Terms:
    """Return what the specs say about all of the tree."""
    repository = specs.sources.get("repository")
    setting = repository.location(("live",)) if repository else Location(SETTINGS)
    return Terms(specs.repository.live, setting, version, locator(specs))


def shipped(root: Path) -> list[Mapping[str, Any]]:
    """Return the policies in CEL, which clusters enforce too, by name; one that is broken is a finding of preflight."""
    return [each.document for each in usable(path for path in policy_files(root) if path.suffix == ".yaml")]
