"""What of a checkout does not count, since nobody has accepted it: policies, API types, programs of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainyard.findings import Finding, Location, Severity
from trainyard.rules import Rule
from trainyard.system.data import own
from trainyard.system.repository import EXTRA
from trainyard.system.trust import DEFAULT, Checkout, checkout, left_out

UNTRUSTED = Rule(
    id="spec/untrusted",
    title="What judges, or runs with your rights, is as on the default branch.",
    why="a branch that nobody has read would run its programs here, or judge itself",
    fix="read it, then say --trust-checkout; or merge it first",
    source="docs/security.md",
    may_warn=True,
    is_about_waivers=True,
)


def check(root: Path) -> Iterator[Finding]:
    """Yield the files that do not count; without a program of one's own nothing can be rendered."""
    lacking = left_out(root, ours=own("policies") == (root / "policies").resolve())
    held = checkout(root)
    if lacking and held is not None and held.git is not None and not held.commits:
        message = f"no default branch is known here, so nothing of {FOLDERS} counts; name the branch in {DEFAULT}"
        yield UNTRUSTED.of(Location(lacking[0], 1, 1), message, fix="run git remote set-head origin --auto")
        return
    for path in lacking:
        weight = None if path.startswith(f"{EXTRA}/") else Severity.WARNING
        yield UNTRUSTED.of(Location(path, 1, 1), said(path, held), severity=weight)


def edits(root: Path) -> list[str]:
    """Return a line that names what is run or judges because it was edited here; none where nothing was."""
    held = checkout(root)
    found = sorted(path for path in held.edited if path.startswith(RUN)) if held is not None else []
    return [f"run as edited here, not merged yet: {', '.join(found)}"] if found else []


RUN = ("policies/", f"{EXTRA}/")
"""Folders whose files are run."""

FOLDERS = "policies/, schemas/ and platform/extra/"
WORD = "read it, then say --trust-checkout"


def said(path: str, held: Checkout | None) -> str:
    """Return why a file does not count, and what counts in its place."""
    merged = held is not None and any(path in side for side in held.accepted)
    if path.startswith(f"{EXTRA}/"):
        return f"this program is not as on the default branch, and is not run; {WORD}"
    if held is not None and not (held.root / path).exists():
        return "this file is deleted here, but the one on the default branch counts until the change is merged"
    if merged or path.startswith("schemas/"):
        return f"this file is not as on the default branch, which counts here; {WORD}"
    return f"this file is not on the default branch, so it judges nothing until it is merged; {WORD}"
