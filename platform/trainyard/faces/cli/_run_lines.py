"""What `run` shows: lines of pods, and below them on a terminal one that says how the run stands."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from trainyard.faces.cli._readers import is_unread
from trainyard.faces.report.legible import escaped

if TYPE_CHECKING:
    from trainyard.faces.local.controllers import Pod
    from trainyard.faces.local.progress import Progress

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""What programs colour their lines by; here colours tell pods apart."""

OFTEN_SECONDS = 0.2
"""Between two looks at how a run stands."""

ERASE = "\r\x1b[2K"
"""Takes the last line of a terminal away."""


class Screen:
    """Lines of pods: seconds since the start, the pod's role and index in a colour of its own, the text.

    Where somebody watches, the last line of the terminal says how the run stands, and goes with the run.
    """

    COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "bright_cyan", "bright_green", "bright_yellow")

    def __init__(self, pods: Sequence[Pod]) -> None:
        from rich.console import Console

        self.console = Console(highlight=False, soft_wrap=True)
        self.is_watched = sys.stdout.isatty() and not self.console.is_dumb_terminal
        self.is_ending = False
        self.began = time.monotonic()
        self.looked, self.status = self.began, ""
        names = [f"{pod.role}-{pod.index}" for pod in pods]
        self.width = max(map(len, [*names, "trainyard"]))
        self.colours = {name: self.COLOURS[place % len(self.COLOURS)] for place, name in enumerate(names)}

    def say(self, pod: Pod | None, text: str) -> None:
        """Print a line, above how the run stands; a run that nobody reads any more ends as if interrupted."""
        from rich.text import Text

        name = f"{pod.role}-{pod.index}" if pod else "trainyard"
        style = self.colours.get(name, "bold")
        head = f"{time.monotonic() - self.began:7.1f}s {name:<{self.width}} | "
        status = self.status
        self.clear()
        self.console.print(Text.assemble((head, style), escaped(COLOUR.sub("", text))))
        self.draw(status)
        if is_unread(sys.stdout) and not self.is_ending:
            self.is_ending = True
            raise KeyboardInterrupt

    def watch(self, progress: Callable[[], Progress]) -> None:
        """Look at how the run stands every now and then, and show it where somebody watches."""
        now = time.monotonic()
        if self.is_watched and now - self.looked >= OFTEN_SECONDS:
            self.looked, said = now, str(progress())
            if said != self.status:
                self.clear()
                self.draw(said)

    def draw(self, status: str) -> None:
        """Write how the run stands into the last line, as much of it as there is room for."""
        from rich.text import Text

        self.status = status
        if status:
            text = Text(status, style="dim")
            text.truncate(max(1, self.console.width - 1), overflow="ellipsis")
            self.console.print(text, end="")

    def clear(self) -> None:
        """Take that line away."""
        if self.status:
            self.console.file.write(ERASE)
            self.console.file.flush()
        self.status = ""
