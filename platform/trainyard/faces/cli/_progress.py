"""A line on standard error that says how far long work has come, where somebody looks at a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from trainyard.base.system.progress import shown_by

PATIENCE_SECONDS = 1.0
"""What is done sooner shows no line."""

OFTEN_SECONDS = 0.1
"""The time between two drawings."""

ERASE = "\r\x1b[K"
"""Goes to the start of the line, and erases what is right of that (ECMA-48, CR and EL)."""


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[None]:
    """Show how far the work inside has come; the line is erased when it ends, however that is."""
    if quiet or not is_shown(sys.stderr):
        yield
        return
    line = Line(sys.stderr)
    try:
        with shown_by(line.show):
            yield
    finally:
        line.erase()


def is_shown(stream: TextIO | None) -> bool:
    """Say whether somebody looks at a stream who can be shown a line that changes."""
    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    if stream is None or automated or os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


class Line:
    """A line that appears when the work takes long.

    It is drawn when somebody tells how far he is, by no thread of its own: the work may split processes off, which
    draw nothing.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.process = os.getpid()
        self.due = time.monotonic() + PATIENCE_SECONDS
        self.is_drawn = False

    def show(self, what: str, done: int, total: int, noun: str) -> None:
        """Draw how many of how many things are done, if the last time is long ago."""
        now = time.monotonic()
        if now >= self.due and os.getpid() == self.process:
            self.due = now + OFTEN_SECONDS
            self.is_drawn = True
            self.write(f"{what}: {done:,} of {total:,} {noun}"[: self.room()])

    def room(self) -> int:
        """Return how many characters fit into a line, which ends before the last column: some terminals wrap there."""
        try:
            return max(0, os.get_terminal_size(self.stream.fileno()).columns - 1)
        except (OSError, ValueError):
            return 0

    def erase(self) -> None:
        """Erase the line."""
        if self.is_drawn and os.getpid() == self.process:
            self.write("")

    def write(self, text: str) -> None:
        """Put a text in the place of the line; a terminal that is gone is left alone."""
        try:
            self.stream.write(ERASE + text)
            self.stream.flush()
        except (OSError, ValueError):
            self.due = float("inf")
            self.is_drawn = False
