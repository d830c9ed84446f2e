"""A bar on standard error where somebody watches; nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE_SECONDS = 1.0
"""What is done sooner shows no bar."""

STEP = 0.01


@contextmanager
def progress(title: str) -> Iterator[Callable[[float], None]]:
    """Give a function that is told the share done, from 0 to 1."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    bar = Bar(title)
    try:
        yield bar.show
    finally:
        bar.end()


class Bar:
    """A bar that appears when the work takes long, and goes when it is done.

    It draws when it is told something, from no thread of its own: the work may split processes off.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.started = time.monotonic()
        self.shown = 0.0
        self.draw: Callable[[float], None] | None = None
        self.end: Callable[[], None] = lambda: None

    def show(self, share: float) -> None:
        """Draw the share that is done, a hundredth at least between two drawings."""
        if share - self.shown < STEP or time.monotonic() - self.started < PATIENCE_SECONDS:
            return
        self.shown = share
        if self.draw is None:
            self.draw = self.begin()
        self.draw(share)

    def begin(self) -> Callable[[float], None]:
        """Start to draw."""
        from rich.console import Console
        from rich.progress import Progress

        bar = Progress(console=Console(stderr=True), transient=True, auto_refresh=False)
        task = bar.add_task(self.title, total=1.0)
        bar.start()
        self.end = bar.stop
        return lambda share: bar.update(task, completed=share, refresh=True)
