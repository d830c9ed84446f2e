"""Findings on standard error, in the one order that all commands have."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.findings import Finding
    from trainyard.specs.sources import Printed


def show(findings: Iterable[Finding]) -> None:
    """Print findings, a paragraph each."""
    from trainyard.report.text import paragraph

    for finding in sorted(findings, key=lambda each: each.order):
        print("\n".join(paragraph(finding)), file=sys.stderr)


def told(printed: Iterable[Printed]) -> None:
    """Print what programs that make jobs print, each line behind its file."""
    for each in printed:
        for line in each.text.splitlines():
            print(f"{each.file}: {line}", file=sys.stderr)
