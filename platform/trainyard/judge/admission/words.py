"""Words that verdicts share."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 3
"""Names that are written out."""


def some(names: Sequence[str], most: int = MOST) -> str:
    """Return the first names, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
