"""Lines below a finding from which others follow; what writes them is imported only where there are some."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainyard.base.findings import Finding


def lines_below(finding: Finding, followers: Sequence[Finding]) -> Iterable[str]:
    """Return the lines on what follows from a finding, none where nothing does."""
    if not followers and not finding.blocks:
        return ()
    from trainyard.judge.causes import words

    return words.lines_below(finding, followers)
