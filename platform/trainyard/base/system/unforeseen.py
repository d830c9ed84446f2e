"""What nobody foresaw while one job, cluster or object is judged: it is an error there, and the others are judged."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from trainyard.base.errors import TrainyardError
from trainyard.base.rules import Rule

T = TypeVar("T")

TRACEBACK = "TRAINYARD_TRACEBACK"
"""With this variable nothing is caught, so that whoever mends Trainyard, and its tests, see where it stopped."""

UNFORESEEN = Rule(
    id="spec/unforeseen",
    title="Trainyard can check every job, cluster and object.",
    why="an unexpected value stops the check; nothing is written, and other findings are still shown",
    fix=f"change the unusual value; report what {TRACEBACK}=1 prints with the same command",
    source="docs/validation.md",
)

LONGEST = 80
"""Letters of Python's own words in a finding."""


def judge_safely(work: Callable[[], T], instead: Callable[[str], T]) -> T:
    """Return a judgement, or what `instead` makes of the reason why there is none: an error, since nobody looked.

    What stops every command stops this one too: a folder that cannot be read, a tool that is missing, too little
    memory, Ctrl-C.
    """
    try:
        return work()
    except (TrainyardError, OSError, MemoryError):
        raise
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        return instead(reason(error))


def reason(error: Exception) -> str:
    """Return in a few words what stopped a judgement."""
    if isinstance(error, RecursionError):
        return "its values are nested too deep"
    if isinstance(error, ArithmeticError):
        return f"a number in it is too large ({type(error).__name__})"
    return f"{type(error).__name__}: {error}"[:LONGEST].partition("\n")[0]
