"""What of a checkout does not count, since nobody has accepted it: policies, API types, programs of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainyard.findings import Finding, Location, Severity
from trainyard.rules import Rule
from trainyard.system.data import own
from trainyard.system.repository import EXTRA
from trainyard.system.trust import left_out

UNTRUSTED = Rule(
    id="spec/untrusted",
    title="What judges, or runs with your rights, is as on the default branch.",
    why="a branch that nobody has read would run its programs here, or judge itself",
    fix="read it, then say --trust-checkout; or merge it first",
    source="docs/security.md",
    may_warn=True,
)


def check(root: Path) -> Iterator[Finding]:
    """Yield the files that do not count; without a program of one's own nothing can be rendered."""
    for path in left_out(root, ours=own("policies") == (root / "policies").resolve()):
        if path.startswith(f"{EXTRA}/"):
            message = "this program is not as on the default branch, and is not run; read it, then say --trust-checkout"
            yield UNTRUSTED.of(Location(path, 1, 1), message)
        else:
            message = "this file is not as on the default branch, which counts here; read it, then say --trust-checkout"
            yield UNTRUSTED.of(Location(path, 1, 1), message, severity=Severity.WARNING)
