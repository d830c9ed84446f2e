"""How much tests by chance try: all of it in `make test`, a tenth where slow tests are left out."""

from __future__ import annotations

import os

QUICK = "TRAINYARD_TESTS_QUICK"
"""Set by conftest.py where slow tests are left out."""


def tries(count: int) -> int:
    """Return how often to try what the whole suite tries so many times."""
    return max(count // 10, 20) if QUICK in os.environ else count
