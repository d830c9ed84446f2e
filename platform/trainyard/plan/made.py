"""The whole of a plan: what stands against the change, and what it does."""

from __future__ import annotations

from pathlib import Path

from trainyard.plan.effects import Plan
from trainyard.plan.known import Known
from trainyard.plan.read import reading
from trainyard.plan.refused import refused


def made(root: Path, version: str, *, ref: str | None = None, automated: bool = False) -> Plan:
    """Return the plan of the repository at `root`; see `made_of`."""
    return made_of(root, version, ref=ref, automated=automated)[0]


def made_of(root: Path, version: str, *, ref: str | None = None, automated: bool = False) -> tuple[Plan, Known]:
    """Return the plan of the repository at `root`, and all that was read for it.

    `version` is the release that renders, `ref` leads to the base.

    `automated` says that nobody watches: then a live repository has to be given a base, as in a synth.
    Raises ToolError without Git, which alone knows the base, and SpecError where the folder is no repository.
    """
    return reading(root, refused(root, version, ref=ref, automated=automated), ref=ref, automated=automated)
