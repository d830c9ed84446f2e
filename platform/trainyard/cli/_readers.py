"""Standard output and error that nobody has to read: a reader that goes, as `head` does, changes no exit code."""

from __future__ import annotations

import io
import os
import sys
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


def await_none() -> None:
    """Let readers of standard output and error go; streams that somebody put in their places stay as they are."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream is getattr(sys, f"__{name}__"):
            setattr(sys, name, patient(stream))


def patient(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return a stream like another one, whose reader may go; what is not buffered there is not buffered here."""
    stream.flush()
    raw: Any = Patient(stream.fileno(), "wb", closefd=False)
    return io.TextIOWrapper(
        raw if stream.write_through else io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def is_unread(stream: TextIO) -> bool:
    """Whether the reader of a stream is gone."""
    buffer = getattr(stream, "buffer", None)
    return bool(getattr(getattr(buffer, "raw", buffer), "is_unread", False))
