"""Output of containers, line by line as they write it."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from trainyard.faces.local.members import Member, Running

BLOCK = 65536
"""Bytes that are read at once, and about as many as a line may have."""


@dataclass
class Output:
    """The output of all containers that run."""

    heard: Callable[[Member, bytes], None]
    """Is told every line, and of which pod."""
    streams: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def follow(self, member: Member, running: Running) -> None:
        """Listen to a container that has started."""
        assert running.started is not None
        stream = running.started.process.stdout
        assert stream is not None
        os.set_blocking(stream.fileno(), False)
        self.streams.register(stream, selectors.EVENT_READ, (member, running))

    def read(self, seconds: float) -> None:
        """Take what containers have written, at most so long after."""
        if not self.streams.get_map():
            time.sleep(seconds)
        for key, _ in self.streams.select(seconds):
            member, running = key.data
            data = os.read(key.fd, BLOCK)
            if data:
                self.take(member, running, data)
            else:
                self.streams.unregister(key.fileobj)

    def take(self, member: Member, running: Running, data: bytes) -> None:
        """Hand the lines on that output completes; a line that is longer than a block is cut."""
        *lines, running.rest = (running.rest + data).split(b"\n")
        if len(running.rest) >= BLOCK:
            lines, running.rest = [*lines, running.rest], b""
        for line in lines:
            self.heard(member, line)

    def drain(self, member: Member, running: Running) -> None:
        """Take the last that an ended container has written."""
        assert running.started is not None
        stream = running.started.process.stdout
        assert stream is not None
        try:
            while data := os.read(stream.fileno(), BLOCK):
                self.take(member, running, data)
        except BlockingIOError:
            pass
        if running.rest:
            self.heard(member, running.rest)
            running.rest = b""
        if stream in {key.fileobj for key in self.streams.get_map().values()}:
            self.streams.unregister(stream)
        stream.close()

    def close(self) -> None:
        """Listen to nobody any more."""
        self.streams.close()
