"""Standard output and error that nobody has to read: a reader that goes, as `head` does, changes no exit code."""

from __future__ import annotations

import io
import os
import sys
import threading
from contextlib import suppress
from typing import Any, TextIO


class Patient(io.FileIO):
    """A stream whose reader may go: what is written then goes nowhere."""

    is_unread = False

    def write(self, data: Any) -> int:
        """Write bytes, or lead the stream nowhere where nobody reads it any more."""
        try:
            return super().write(data)
        except BrokenPipeError:
            self.is_unread = True
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


NODE = "process.stderr_sink"
"""The thread in which jsii 1.142 passes Node's words on; what is no JSON there are traces of a Node that ends."""


class Words(io.TextIOWrapper):
    """A text stream that takes no traces of Node's: why it ends is said where that is noticed."""

    def write(self, text: str) -> int:
        """Write a text, unless it comes from Node."""
        return len(text) if threading.current_thread().name == NODE else super().write(text)


def let_go(unraised: Any) -> None:
    """Pass on an error that nobody can catch any more, unless it is jsii's about a Node that has ended already."""
    if "_NodeProcess" not in getattr(unraised.object, "__qualname__", ""):
        sys.__unraisablehook__(unraised)


def open_closed() -> None:
    """Lead what nobody opened of standard input, output and error nowhere, so that no file of ours takes its place.

    Standard input stays None to Python, since whoever wants to read it should say that it is closed.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, f"__{name}__") is not None:
            continue
        with suppress(OSError):
            os.close(number)
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
        os.set_inheritable(number, True)
        if number and getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))


def await_none() -> None:
    """Let readers of standard output and error go; streams that somebody put in their places stay as they are."""
    sys.unraisablehook = let_go
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream is getattr(sys, f"__{name}__"):
            setattr(sys, name, patient(stream))


def patient(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return a stream like another one, whose reader may go; what is not buffered there is not buffered here."""
    stream.flush()
    raw: Any = Patient(stream.fileno(), "wb", closefd=False)
    return Words(
        raw if stream.write_through else io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="backslashreplace" if stream.errors == "strict" else stream.errors,  # no encoding ends a command
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def is_unread(stream: TextIO) -> bool:
    """Whether the reader of a stream is gone."""
    buffer = getattr(stream, "buffer", None)
    return bool(getattr(getattr(buffer, "raw", buffer), "is_unread", False))
