"""Where commands print: nothing in what they are given steers a terminal, forges a line or commands a log's reader."""

from __future__ import annotations

import sys

from trainyard.faces.report.legible import escaped, in_json


def say(line: str = "", *, end: str = "\n", error: bool = False) -> None:
    """Print one line: a line feed in it is not ours, and is shown as an escape."""
    print(escaped(line), end=end, file=sys.stderr if error else sys.stdout, flush=bool(error))


def page(text: str, *, end: str = "\n", error: bool = False) -> None:
    """Print lines that were put together of single ones, each of which ends where it should."""
    print(escaped(text, keep="\t\n"), end=end, file=sys.stderr if error else sys.stdout)


def data(document: str) -> None:
    """Print a document of JSON, in whose texts what would steer a terminal is an escape of JSON."""
    print(in_json(document))


def ready(text: str, *, error: bool = False) -> None:
    """Write what is legible already, colours and all."""
    (sys.stderr if error else sys.stdout).write(text)
