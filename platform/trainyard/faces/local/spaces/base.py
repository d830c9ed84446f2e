"""Where pods run: something that knows their names, shows them their volumes, and starts their containers."""

from __future__ import annotations

import os
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from trainyard.faces.local.kubelet import Container, Resolved
from trainyard.faces.local.volumes import Mount

IMAGE = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "LANG", "LC_ALL", "TZ")
"""Variables of this machine that stand in for the image's own."""


@dataclass
class Started:
    """A container that runs."""

    process: subprocess.Popen[bytes]

    def tell(self) -> None:
        """Ask it to end, as the kubelet does."""
        with suppress(ProcessLookupError, PermissionError):
            self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it and all that it has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    @property
    def code(self) -> int | None:
        """Its exit code, as a shell would say it; None as long as it runs."""
        code = self.process.poll()
        return code if code is None or code >= 0 else 128 - code


@dataclass
class Space(ABC):
    """Where the pods of a run are."""

    how: ClassVar[str]
    """What it is, in words for who runs it."""
    pods: Sequence[Resolved]
    names: Mapping[str, Sequence[str]]
    scratch: Path
    workdir: Path
    """Folder in place of the image's own working directory."""
    image: Mapping[str, str] = field(
        default_factory=lambda: {name: os.environ[name] for name in IMAGE if name in os.environ}
    )

    @abstractmethod
    def open(self) -> None:
        """Make what all pods need."""

    @abstractmethod
    def close(self) -> None:
        """Take it away."""

    def rewrite(self, text: str) -> str:
        """Return a text as it has to be for pods to work here."""
        return text

    @abstractmethod
    def start(self, pod: Resolved, container: Container, mounts: Sequence[Mount], number: int) -> Started:
        """Start a container; its output is one stream."""

    def environment(self, pod: Resolved, container: Container, home: str) -> dict[str, str]:
        """Return all variables of a container."""
        return {"HOME": home, **self.image, "HOSTNAME": pod.pod.hostname, **container.env}
