"""Runs the Python policies over a world."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.errors import TrainyardError
from trainyard.findings import Finding, Location, Skipped

if TYPE_CHECKING:
    from trainyard.manifests import Manifest
    from trainyard.policies.policy import Policy, Problem
    from trainyard.policies.world import World

LACKS = {"inventory": "no inventory", "cluster": "only of a whole cluster", "runs": "only of all runs together"}
"""What a policy may need of a world, and what is said where it is not there."""


def check(
    world: World,
    policies: Iterable[Policy],
    *,
    off: Mapping[str, str] | None = None,
    line_of: Callable[[Manifest], Location | None] = lambda _: None,
) -> tuple[list[Finding], list[Skipped]]:
    """Run every Python policy that is not switched off; one that lacks what it needs is skipped, and listed.

    `line_of` tells the spec line that an object comes from. Findings come
    object by object.
    """
    skipped: list[Skipped] = []
    found = list(problems(world, policies, off=off, skipped=skipped))
    order = {id(each.document): number for number, each in enumerate(world.manifests)}
    found.sort(key=lambda pair: order.get(id(pair[1].place.manifest.document), 0))  # its places are looked up together
    return [finding(policy, each, line_of) for policy, each in found], skipped


def problems(
    world: World,
    policies: Iterable[Policy],
    *,
    off: Mapping[str, str] | None = None,
    skipped: list[Skipped] | None = None,
) -> Iterator[tuple[Policy, Problem]]:
    """Yield what the policies find; those that cannot run are added to `skipped`."""
    skipped = [] if skipped is None else skipped
    there = {"inventory": world.inventory is not None, "cluster": world.complete, "runs": world.complete}
    for policy in policies:
        lacking = sorted(need for need in policy.needs if not there[need])
        if off and policy.id in off:
            skipped.append(Skipped(policy.id, f"switched off: {off[policy.id]}"))
        elif policy.check is None:
            continue
        elif lacking:
            skipped.append(Skipped(policy.id, LACKS[lacking[0]]))
        else:
            yield from ((policy, each) for each in asked(policy, policy.check, world))


def asked(policy: Policy, check: Callable[[World], Iterable[Problem]], world: World) -> list[Problem]:
    """Return what a policy finds; raises TrainyardError where it fails, since it has not passed then."""
    try:
        found = list(check(world))
        for each in found:
            _ = each.place  # what is no Problem fails here
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).name == policy.file]
        place = f"{policy.file}:{lines[-1]}" if lines else policy.file
        raise TrainyardError(f"policy {place} stopped with {type(error).__name__}: {error}") from error
    return found


def finding(policy: Policy, problem: Problem, line_of: Callable[[Manifest], Location | None]) -> Finding:
    """Turn what a policy yields into what a report shows."""
    place = problem.place
    fix = problem.fix or policy.rule.fix
    found = place.manifest.finding(
        policy.rule, place.path, problem.message, key=place.key, severity=problem.severity, fix=fix
    )
    return replace(found, spec=line_of(place.manifest))
