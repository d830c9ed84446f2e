"""What `synth --check` would refuse of the tree at hand: a plan of such a change is none of what will be merged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from trainyard.findings import Finding
from trainyard.plan.effects import Plan
from trainyard.synth import session
from trainyard.tree.base import unproven
from trainyard.tree.frozen import checked
from trainyard.tree.rules import STALE


def judge(plan: Plan, refusals: Iterable[Finding]) -> Plan:
    """Return a plan with what stands against the change.

    That the tree is behind a file goes without saying where the file itself is refused.
    """
    found = dict.fromkeys((*plan.findings, *refusals))
    wrong = {each.location.file for each in found if each.is_error and STALE.id != each.rule}
    left = [each for each in found if STALE.id != each.rule or each.location.file not in wrong]
    return replace(plan, findings=tuple(sorted(left, key=lambda finding: finding.order)))


def refused(root: Path, version: str, *, ref: str | None = None, automated: bool = False) -> tuple[Finding, ...]:
    """Return what stands against the change, which is compared with the base like the plan itself.

    Whether the tree follows from the specs takes rendering; without the extra that brings cdk8s a warning says so.
    """
    if find_spec("cdk8s") is None:
        specs = checked(root, ref=ref).findings
        return (
            *specs,
            unproven("whether generated/ follows from the specs is not known: trainyard[synth] is not installed"),
        )
    outcome = session.run(root, version, ref=ref, checking=True, automated=automated)
    outcome.save()
    return outcome.findings
