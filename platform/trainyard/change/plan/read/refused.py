"""Errors of a change: those of synth, of the API server and of policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from trainyard.base.findings import Finding, Skipped
from trainyard.base.memory import World
from trainyard.change.plan.effects import Told
from trainyard.change.plan.read import judged_objects as objects
from trainyard.change.synth import session
from trainyard.judge.checks.left_out import EVERYTHING
from trainyard.render.tree.base import unproven_warning
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.snapshot import Snapshot
from trainyard.specs.sources import Specs


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a change comes to: the tree that a synth would write, and everything that is said of it."""

    findings: tuple[Finding, ...]
    tree: Snapshot | None = None
    """None where a synth refuses to write, or cannot run."""
    told: Told = "refused"
    specs: Specs | None = None
    """The specs that were read; they lack the jobs about which enough was remembered."""
    base: Snapshot | None = None
    """The tree at the base, where it was read."""
    disk: Disk | None = None
    """What is on disk, where that was looked at."""
    world: World | None = None
    """What everything that may be read is now; None where nothing is remembered."""
    skipped: tuple[Skipped, ...] = ()
    """What was left out of the objects that were judged."""
    objects: Callable[[], Sequence[Finding]] = tuple
    """What is said of the objects, which are judged beside what else is found out: ask last."""


def judge_change(root: Path, version: str, *, ref: str | None = None, automated: bool = False) -> Verdict:
    """Return the verdict on the change, which is compared with the base like the plan itself.

    What the objects come to is asked of the tree that a synth would write, beside what else a plan finds out. Of what
    is no error only that of the specs is told. Rendering takes the extra that brings cdk8s; without it a warning says
    what is not known.
    """
    if find_spec("cdk8s") is None:
        return unrendered(root, ref)
    outcome = session.run(root, version, ref=ref, checking=True, automated=automated, looking=True)
    outcome.save()
    tree, work, specs = outcome.tree, outcome.work, outcome.specs
    if outcome.judged is None:
        return Verdict(outcome.findings, skipped=(Skipped("objects", EVERYTHING),))
    found = objects.begin(root, outcome.judged, world=outcome.world, ref=ref)
    if tree is None or work is None or specs is None:
        why = outcome.judged.without.sentence
        return Verdict(outcome.findings, skipped=(Skipped("objects", why),) if why else (), objects=found)
    is_behind = bool(work.changes.write or work.changes.remove)
    told: Told = "synth" if is_behind else "disk"
    return Verdict(outcome.findings, tree.snapshot, told, specs, tree.base, outcome.disk, outcome.world, objects=found)


def unrendered(root: Path, ref: str | None) -> Verdict:
    """Return the verdict on the specs and on the tree on disk, which may be out of date."""
    from trainyard.judge.checks.repository import validate_repository  # which takes long to import

    result = validate_repository(root, base=ref, second=objects.second_engine(root))
    errors = tuple(finding for finding in result.findings if finding.is_error)
    why = "cannot tell whether generated/ is up to date: the extra 'synth' of Trainyard is not installed"
    left_out = tuple(skipped for skipped in result.skipped if skipped.rule == "objects")
    told: Told = "disk" if result.objects else "refused"
    return Verdict((*errors, unproven_warning(why)), told=told, skipped=left_out)
