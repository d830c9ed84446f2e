"""Names that differ by one letter."""

from __future__ import annotations

import re

SHORTEST = 3
"""Letters of a name of which one may be wrong."""


def is_near(name: str, meant: str) -> bool:
    """Say whether one letter is missing, too many, another, or swapped with the next; digits tell names apart.

    >>> [is_near(name, "checkpoints") for name in ("checkpoint", "chekcpoints", "Checkpoints", "snapshots")]
    [True, True, True, False]
    >>> is_near("nvme1", "nvme0")
    False
    """
    if name.lower() == meant.lower():
        return True
    if len(meant) < SHORTEST or abs(len(name) - len(meant)) > 1 or without_digits(name) == without_digits(meant):
        return False
    start = next((at for at, (has, had) in enumerate(zip(name, meant, strict=False)) if has != had), None)
    if start is None:
        return True
    rest, wanted = name[start:], meant[start:]
    swapped = rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:]
    return rest[1:] == wanted[1:] or rest[1:] == wanted or rest == wanted[1:] or swapped


def without_digits(name: str) -> str:
    """Return the letters of a name."""
    return re.sub(r"\d", "", name)
