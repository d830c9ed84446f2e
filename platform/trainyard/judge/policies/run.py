"""Runs the Python policies over a world."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.base.findings import Finding, Location, Skipped
from trainyard.base.system.unforeseen import UNFORESEEN
from trainyard.judge.policies.needs import LACKS

if TYPE_CHECKING:
    from trainyard.base.manifests import Manifest
    from trainyard.judge.policies.policy import Policy, Problem
    from trainyard.judge.policies.world import World

MOST_LETTERS = 160
"""Letters of Python's own words in a finding."""


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
    failed: list[Stopped] = []
    found = list(problems(world, policies, off=off, skipped=skipped, failed=failed))
    order = {id(manifest.document): number for number, manifest in enumerate(world.manifests)}
    found.sort(key=lambda pair: order.get(id(pair[1].place.manifest.document), 0))  # its places are looked up together
    return [
        *(one_stopped.finding() for one_stopped in failed),
        *(finding(policy, daemon, line_of) for policy, daemon in found),
    ], skipped


def problems(
    world: World,
    policies: Iterable[Policy],
    *,
    off: Mapping[str, str] | None = None,
    skipped: list[Skipped] | None = None,
    failed: list[Stopped] | None = None,
) -> Iterator[tuple[Policy, Problem]]:
    """Yield the problems that policies find; those that cannot run go to `skipped`, those that stop to `failed`."""
    skipped = [] if skipped is None else skipped
    failed = [] if failed is None else failed
    there = {"inventory": world.inventory is not None, "cluster": world.complete, "runs": world.complete}
    for policy in policies:
        lacking = sorted(need for need in policy.needs if not there[need])
        if off and policy.id in off:
            skipped.append(Skipped(policy.id, f"switched off: {off[policy.id]}"))
        elif policy.check is None:
            continue
        elif lacking:
            skipped.append(Skipped(policy.id, LACKS[lacking[0]], partial=True))
        else:
            found, wrong = judge_world(policy, policy.check, world)
            failed += wrong
            yield from ((policy, problem) for problem in found)


Check = Callable[["World"], "Iterable[Problem]"]


@dataclass(frozen=True, slots=True)
class Stopped:
    """An object at which a policy stops, so that it has not passed there."""

    manifest: Manifest | None
    """None where no object by itself stops it."""
    policy: Policy
    message: str
    line: int = 1
    """The line of the policy's file at which it stops."""

    def finding(self) -> Finding:
        """Return it as an error, at the object or else at the policy's file."""
        if self.manifest is not None:
            return self.manifest.finding(UNFORESEEN, (), self.message)
        return UNFORESEEN.of(Location(f"policies/{self.policy.file}", self.line, 1), self.message)


def judge_world(policy: Policy, check: Check, world: World) -> tuple[list[Problem], list[Stopped]]:
    """Return the problems that a policy finds, and the objects at which it stops; the others are still judged."""
    try:
        return ask_policy(check, world), []
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a policy raises, others are judged
        message = f"policy {policy.id} cannot check these objects: {stop_line(policy, error)}"
        whole = Stopped(None, policy, message, failing_line(policy, error) or 1)
    nothing = replace(world, manifests=())
    if stops_at(policy, check, nothing):
        return [], [whole]
    alone = [replace(world, manifests=(manifest,), complete=False) for manifest in world.manifests]
    reasons = [stops_at(policy, check, one_world) for one_world in alone]
    left = tuple(manifest for manifest, reason in zip(world.manifests, reasons, strict=True) if reason is None)
    if len(left) == len(world.manifests):
        return [], [whole]
    found, more = judge_world(policy, check, replace(world, manifests=left))
    pairs = zip(world.manifests, reasons, strict=True)
    return found, [*(Stopped(manifest, policy, reason) for manifest, reason in pairs if reason is not None), *more]


def stops_at(policy: Policy, check: Check, world: World) -> str | None:
    """Return how a policy stops at some objects, or None where it does not."""
    try:
        ask_policy(check, world)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a policy raises
        return f"policy {policy.id} cannot check this object: {stop_line(policy, error)}"
    return None


def ask_policy(check: Check, world: World) -> list[Problem]:
    """Return the problems that a policy finds; raises whatever the policy raises, also where an item is no problem."""
    found = list(check(world))
    for problem in found:
        _ = problem.place
    return found


def failing_line(policy: Policy, error: BaseException) -> int | None:
    """Return the last line of a policy's file on the way to what stopped it."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).name == policy.file]
    return lines[-1] if lines else None


def stop_line(policy: Policy, error: BaseException) -> str:
    """Return at which line of a policy what stopped it."""
    line = failing_line(policy, error)
    place = policy.file if line is None else f"{policy.file}:{line}"
    return f"{place} stopped with {type(error).__name__}: {error}"[:MOST_LETTERS].partition("\n")[0]


def finding(policy: Policy, problem: Problem, line_of: Callable[[Manifest], Location | None]) -> Finding:
    """Turn what a policy yields into what a report shows."""
    place = problem.place
    fix = problem.fix or policy.rule.fix
    found = place.manifest.finding(
        policy.rule, place.path, problem.message, key=place.key, severity=problem.severity, fix=fix
    )
    return replace(found, spec=line_of(place.manifest.outer))
