"""Findings on standard error, in the one order that all commands have."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.findings import Finding


def show(findings: Iterable[Finding]) -> None:
    """Print findings, a paragraph each."""
    from trainyard.report.text import paragraph

    for finding in sorted(findings, key=lambda each: each.order):
        print("\n".join(paragraph(finding)), file=sys.stderr)
