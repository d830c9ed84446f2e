"""What of a checkout does not count, since nobody has accepted it: policies, API types, programs of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainyard.base.findings import Finding, Location, Severity
from trainyard.base.rules import Rule
from trainyard.base.system.data import own_folder
from trainyard.base.system.repository import EXTRA
from trainyard.base.system.trust import DEFAULT, Checkout, checkout, left_out
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.specs.load import Loaded

UNTRUSTED = Rule(
    id="spec/untrusted",
    title="Policies, programs and API types are those of the default branch.",
    why="a branch could run its own programs with your rights, or weaken the checks that judge it",
    fix="review the branch, then use --trust-checkout; or merge it first",
    source="docs/security.md",
    may_warn=True,
    is_about_waivers=True,
)


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield the files that do not count; without a program of one's own nothing can be rendered."""
    root = loaded.root
    lacking = left_out(root, ours=own_folder("policies") == (root / "policies").resolve())
    held = checkout(root)
    if lacking and held is not None and held.git is not None and not held.commits:
        message = f"the default branch is unknown, so nothing in {FOLDERS} has effect; set {DEFAULT}"
        yield UNTRUSTED.of(Location(lacking[0], 1, 1), message, fix="run git remote set-head origin --auto")
        return
    for path in lacking:
        weight = None if path.startswith(f"{EXTRA}/") else Severity.WARNING
        yield UNTRUSTED.of(Location(path, 1, 1), trust_reason(path, held), severity=weight)


def edits(root: Path) -> list[str]:
    """Return a line that names what is run or judges because it was edited here; none where nothing was."""
    held = checkout(root)
    found = sorted(path for path in held.edited if path.startswith(RUN)) if held is not None else []
    return [f"run as edited here, not merged yet: {', '.join(found)}"] if found else []


RUN = ("policies/", f"{EXTRA}/")
"""Folders whose files are run."""

FOLDERS = "policies/, schemas/ and platform/extra/"
WORD = "review it, then use --trust-checkout"


def trust_reason(path: str, held: Checkout | None) -> str:
    """Return why a file does not count, and what counts in its place."""
    merged = held is not None and any(path in side for side in held.accepted)
    if path.startswith(f"{EXTRA}/"):
        return f"this program differs from the default branch, so it was not run; {WORD}"
    if held is not None and not (held.root / path).exists():
        return "this file is deleted here, but still counts until the change is merged"
    if merged or path.startswith("schemas/"):
        return f"this file differs from the default branch, whose version counts here; {WORD}"
    return f"this file is not on the default branch, so it has no effect before the merge; {WORD}"
