"""Runs the Python policies over one cluster's world, and applies the waivers of its jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainyard.checks.result import Skipped
from trainyard.documents import format_path
from trainyard.findings import Finding, Location, Severity, did_you_mean
from trainyard.labels import JOB

if TYPE_CHECKING:
    from trainyard.checks.policy import Policy, Problem
    from trainyard.checks.world import World


@dataclass(frozen=True, slots=True)
class Waiver:
    """A job's word that one policy does not apply to its objects, and where that is written."""

    policy: str
    namespace: str
    job: str
    location: Location


@dataclass(slots=True)
class Waivers:
    """The waivers of a cluster's jobs, and which of them were needed."""

    waivers: tuple[Waiver, ...] = ()
    used: set[Waiver] = field(default_factory=set)

    def cover(self, policy: str, namespace: str | None, job: str | None) -> bool:
        """Say whether a finding of this policy on an object of this job is waived."""
        for waiver in self.waivers:
            if (waiver.policy, waiver.namespace, waiver.job) == (policy, namespace, job):
                self.used.add(waiver)
                return True
        return False

    def unneeded(self, policies: Iterable[str]) -> Iterator[Finding]:
        """Yield a finding for every waiver that nothing needs, or that names no policy."""
        known = set(policies)
        for waiver in self.waivers:
            if waiver.policy not in known:
                message = f"policy {waiver.policy!r} does not exist; {did_you_mean(waiver.policy, known)}"
                yield Finding("spec/waive", "spec", message, waiver.location)
            elif waiver not in self.used:
                message = f"policy {waiver.policy!r} is waived but finds nothing here; remove the waiver"
                yield Finding("spec/waive", "spec", message, waiver.location, Severity.WARNING)


def check(
    world: World, policies: Iterable[Policy], waivers: Waivers, *, off: Mapping[str, str] | None = None
) -> tuple[list[Finding], list[Skipped]]:
    """Run every Python policy that is not switched off; one that lacks what it needs is skipped, and listed."""
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
            found = (
                finding(policy, problem) for problem in policy.check(world) if not waived(policy, problem, waivers)
            )
            findings += found
    return findings, skipped


def waived(policy: Policy, problem: Problem, waivers: Waivers) -> bool:
    """Say whether the job that the problem is about waives the policy."""
    manifest = problem.place.manifest
    return waivers.cover(policy.id, manifest.namespace, manifest.labels.get(JOB))


def finding(policy: Policy, problem: Problem) -> Finding:
    """Turn what a policy yields into what a report shows."""
    place = problem.place
    return Finding(
        rule=policy.id,
        layer="policy",
        message=problem.message,
        location=place.location,
        severity=policy.severity,
        object=place.manifest.ref,
        path=format_path(place.path) or None,
        fix=problem.fix or policy.fix,
        source=policy.source,
    )
