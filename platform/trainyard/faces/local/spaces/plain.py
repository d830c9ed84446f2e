"""Pods as plain processes, where namespaces are refused: names and paths are replaced in what they are told."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import ClassVar

from trainyard.faces.local.controllers.base import RunError
from trainyard.faces.local.kubelet import Container, Resolved
from trainyard.faces.local.spaces.base import Space, Started
from trainyard.faces.local.volumes import Mount

INTERFACE = re.compile(r"(_SOCKET_IFNAME|_if_include)$")
PORTS = range(20000, 30000)
LOOPBACK = "127.0.0.1"
DOT = "."
WORD = r"(?:(?<=//)|(?<![\w./-])){}(?![\w-]|\.\w)(?::(\d+))?"
"""A name as a word of its own: no part of a path, unless it stands behind `//`."""


TEND = (sys.executable, "-I", "-S", str(Path(__file__).with_name("tend.py")))
"""What starts a container and ends all that comes of it."""


@dataclass
class Tended(Started):
    """A container whose processes are ended by what has started it, also those that have left its session."""

    def kill(self) -> None:
        """Have everything ended at once."""
        with suppress(ProcessLookupError, PermissionError):
            self.process.send_signal(signal.SIGHUP)


@dataclass
class Plain(Space):
    """Each pod has an address of loopback; what listens on a port of all addresses has it alone."""

    how: ClassVar[str] = (
        "plain processes: host names and mounted paths are replaced in commands, variables and written files; "
        "programs see the files and the network of this machine"
    )
    ports: dict[tuple[str, str], str] = field(default_factory=dict)

    def open(self) -> None:
        """Refuse what needs more: pods that enter each other by ssh."""
        for pod in self.pods:
            if any("ssh" in str(container.command[:1]) for container in pod.containers):
                raise RunError(
                    f"pod {pod.pod.name!r} runs sshd, which needs Linux namespaces; they are not available here"
                )
        self.number()

    def close(self) -> None:
        """Nothing is left to take away."""

    def number(self) -> None:
        """Give a port of its own to each `host:port` where several hosts have the same one."""
        texts = [
            text
            for pod in self.pods
            for container in pod.containers
            for text in chain(container.command, container.env.values())
        ]
        found: dict[str, set[str]] = {}
        for host, port in (pair for text in texts for pair in re.findall(r"([\w.-]+):(\d+)", text)):
            if host in self.names:
                found.setdefault(port, set()).add(host)
        free = iter(PORTS)
        by_address: dict[tuple[Sequence[str], str], str] = {}
        for port, hosts in sorted(found.items()):
            if len({self.names[host] for host in hosts}) > 1:
                for host in sorted(hosts):
                    key = (self.names[host], port)
                    by_address.setdefault(key, str(next(free)))
                    self.ports[host, port] = by_address[key]

    def rewrite(self, text: str) -> str:
        """Return a text with addresses for names."""
        for name in sorted(self.names, key=len, reverse=True):
            if name in text and (DOT in name or len(self.names[name]) == 1):
                text = re.sub(WORD.format(re.escape(name)), self.replaced(name), text)
        return (
            text.replace("10.77.", "127.77.")
            if sys.platform == "linux"
            else re.sub(r"10\.77\.\d+\.\d+", LOOPBACK, text)
        )

    def replaced(self, name: str) -> Callable[[re.Match[str]], str]:
        """Return the replacement for a name, with its port."""
        address = self.names[name][0]
        if sys.platform != "linux":
            address = LOOPBACK

        def one(match: re.Match[str]) -> str:
            port = match[1]
            return address if port is None else f"{address}:{self.ports.get((name, port), port)}"

        return one

    def start(self, pod: Resolved, container: Container, mounts: Sequence[Mount], _number: int) -> Started:
        """Start a container as a process group."""
        home = self.scratch / pod.folder
        home.mkdir(parents=True, exist_ok=True)
        paths = sorted(((mount.target, str(mount.source)) for mount in mounts), key=lambda pair: -len(pair[0]))

        def told(text: str) -> str:
            for target, source in paths:
                if target in text:
                    text = re.sub(rf"(?<![\w./-]){re.escape(target)}(?![\w.-])", source.replace("\\", r"\\"), text)
            return self.rewrite(text)

        env = {name: told(value) for name, value in container.env.items()}
        env = {name: "lo" if INTERFACE.search(name) else value for name, value in env.items()}
        whole = {**self.environment(pod, container, str(home)), **env}
        cwd = told(container.value.get("workingDir") or "") or str(self.workdir)
        command = [told(word) for word in container.command]
        try:
            if not is_there(command[0], cwd, whole.get("PATH")):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            process = subprocess.Popen(  # noqa: S603 - what the manifest says is what is run
                [*TEND, *command],
                cwd=cwd,
                env=whole,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise RunError(f"pod {pod.pod.name!r} cannot start {container.command[0]!r}: {error.strerror}") from error
        return Tended(process)


def is_there(program: str, cwd: str, path: str | None) -> bool:
    """Whether a program is found: by its path from where it starts, or by its name on PATH."""
    return shutil.which(str(Path(cwd, program)) if os.sep in program else program, path=path) is not None
