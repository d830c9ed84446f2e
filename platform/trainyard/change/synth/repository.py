"""A repository's specs in the terms of runs and folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard.base.findings import Location
from trainyard.base.system.data import policy_files
from trainyard.base.system.repository import SETTINGS
from trainyard.change.synth.assemble import Terms
from trainyard.judge.policies.policy import usable
from trainyard.render.tree.origins import locator
from trainyard.specs.sources import Specs


def terms(specs: Specs, version: str) -> Terms:
    """Return the terms that the specs set for all of the tree."""
    repository = specs.sources.get("repository")
    setting = repository.location(("live",)) if repository else Location(SETTINGS)
    return Terms(specs.repository.live, setting, version, locator(specs))


def shipped_policies(root: Path) -> list[Mapping[str, Any]]:
    """Return the policies in CEL, which clusters enforce too, by name; one that is broken is a finding of preflight."""
    return [policy.document for policy in usable(path for path in policy_files(root) if path.suffix == ".yaml")]
