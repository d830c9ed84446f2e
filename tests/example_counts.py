"""How much tests by chance try: all of it in `make test`, a tenth where slow tests are left out."""

from __future__ import annotations

import os

QUICK = "TRAINYARD_TESTS_QUICK"
"""Set by conftest.py where slow tests are left out."""

LIMIT_SECONDS = 5
"""CPU time that a test may take without a mark, twice as much where it tries all: no test takes half of it."""


def tries(count: int) -> int:
    """Return how often to try what the whole suite tries so many times."""
    return max(count // 10, 20) if is_quick() else count


def is_quick() -> bool:
    """Say whether slow tests are left out."""
    return QUICK in os.environ
