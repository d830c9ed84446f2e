"""Runs the Python policies over one cluster's world."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.checks.result import Skipped
from trainyard.errors import TrainyardError
from trainyard.findings import Finding, Location

if TYPE_CHECKING:
    from trainyard.checks.policy import Policy, Problem
    from trainyard.checks.world import World
    from trainyard.manifests import Manifest


def check(
    world: World,
    policies: Iterable[Policy],
    *,
    off: Mapping[str, str] | None = None,
    line_of: Callable[[Manifest], Location | None] = lambda _: None,
) -> tuple[list[Finding], list[Skipped]]:
    """Run every Python policy that is not switched off; one that lacks what it needs is skipped, and listed.

    `line_of` tells the spec line that an object comes from.
    """
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    for policy in policies:
        if off and policy.id in off:
            skipped.append(Skipped(policy.id, f"switched off: {off[policy.id]}"))
        elif policy.check is None:
            continue
        elif "inventory" in policy.needs and world.inventory is None:
            skipped.append(Skipped(policy.id, "no inventory"))
        else:
            findings += reported(policy, policy.check, world, line_of)
    return findings, skipped


def reported(
    policy: Policy,
    check: Callable[[World], Iterable[Problem]],
    world: World,
    line_of: Callable[[Manifest], Location | None],
) -> list[Finding]:
    """Return what a policy finds; raises TrainyardError where it fails, since it has not passed then."""
    try:
        return [finding(policy, problem, line_of) for problem in check(world)]
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).name == policy.file]
        place = f"{policy.file}:{lines[-1]}" if lines else policy.file
        raise TrainyardError(f"policy {place} stopped with {type(error).__name__}: {error}") from error


def finding(policy: Policy, problem: Problem, line_of: Callable[[Manifest], Location | None]) -> Finding:
    """Turn what a policy yields into what a report shows."""
    place = problem.place
    fix = problem.fix or policy.rule.fix
    found = place.manifest.finding(policy.rule, place.path, problem.message, key=place.key, fix=fix)
    return replace(found, spec=line_of(place.manifest))
