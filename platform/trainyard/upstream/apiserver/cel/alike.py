"""Which releases of Kubernetes compile an expression alike: few of them add a function or a macro.

Source: kubernetes/apiserver v0.35.4 pkg/cel/environment/base.go, `IntroducedVersion` of each library.
"""

from __future__ import annotations

CHANGED = (27, 28, 29, 30, 31, 33, 34)
"""Minor releases that added functions or macros, in order; `library` and `parse` say which."""


def first_alike(minor: int) -> int:
    """Return the first minor release with the functions and macros of this one: what it compiles holds for both.

    >>> first_alike(37), first_alike(33), first_alike(20)
    (34, 33, 20)
    """
    return max((change for change in CHANGED if change <= minor), default=minor)
