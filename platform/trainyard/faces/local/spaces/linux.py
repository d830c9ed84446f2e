"""Pods as namespaces of Linux, which need no root: each with its own network, host name, processes and files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from trainyard.faces.local.controllers.base import RunError
from trainyard.faces.local.kubelet import Container, Resolved
from trainyard.faces.local.spaces.base import Space, Started
from trainyard.faces.local.volumes import Mount

INSIDE = (sys.executable, "-I", "-S", str(Path(__file__).with_name("inside.py")))
BRIDGE = "pods"
HOME = "/"
WORKSPACE = "/workspace"
"""Where the folder is that stands in for the image's, unless a container says where it works."""

MEMORY = "/dev/shm"  # noqa: S108 - of the pod
HIDDEN = ("/tmp", MEMORY)  # noqa: S108 - folders of this machine that a pod has its own of


@dataclass
class Confined(Started):
    """A container in namespaces: its first process alone is told to end."""

    def kill(self) -> None:
        """End the process that holds it, and so all of its namespace."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)


@dataclass
class Linux(Space):
    """A bridge that all pods are plugged into, and that leads nowhere else."""

    how: ClassVar[str] = (
        "Linux namespaces: each pod has its own network, host name, processes, /tmp and mounted paths; "
        "all other files are those of this machine"
    )
    world: subprocess.Popen[bytes] | None = None
    holders: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def open(self) -> None:
        """Make the bridge, and every pod's network."""
        self.scratch.chmod(0o700)
        (self.scratch / "root").mkdir(exist_ok=True)
        self.world = hold(0, "world")
        configure(self.world, f"link add {BRIDGE} type bridge", f"link set {BRIDGE} up", "link set lo up")
        for number, pod in enumerate(self.pods):
            holder = hold(self.world.pid, pod.pod.hostname)
            self.holders[pod.pod.name] = holder
            plug = f"link add p{number} type veth peer name eth0 netns {holder.pid}"
            configure(self.world, plug, f"link set p{number} master {BRIDGE} up")
            address = f"address add {pod.address}/16 dev eth0"
            configure(holder, "link set lo up", address, "link set eth0 up")

    def close(self) -> None:
        """Let go of all namespaces."""
        for holder in (*self.holders.values(), *([self.world] if self.world else ())):
            holder.kill()
            holder.wait()
            for stream in (holder.stdin, holder.stdout):
                if stream is not None:
                    stream.close()

    def start(self, pod: Resolved, container: Container, mounts: Sequence[Mount], number: int) -> Started:
        """Start a container in its pod."""
        user = user_of(pod.pod.spec, container.value)
        folder = self.scratch / "etc" / f"{number}"
        binds = [(str(mount.source), mount.target, mount.read_only) for mount in mounts]
        cwd = container.value.get("workingDir") or WORKSPACE
        targets = {target for _, target, _ in binds}
        if WORKSPACE not in targets:
            binds.append((str(self.workdir), WORKSPACE, False))
        binds += ((str(file), f"/etc/{file.name}", False) for file in self.files(pod, user, folder))
        binds += ((place, place, False) for place in kept_variables())
        env = self.environment(pod, container, HOME)
        request = {
            "pod": self.holders[pod.pod.name].pid,
            "root": str(self.scratch / "root"),
            "memory": [] if MEMORY in targets else [MEMORY],
            "binds": binds,
            "cwd": cwd,
            "uid": user[0],
            "gid": user[1],
            "env": env,
            "command": list(container.command),
        }
        file = folder.with_suffix(".json")
        file.write_text(json.dumps(request))
        process = subprocess.Popen(  # noqa: S603 - what the manifest says is what is run
            [*INSIDE, "start", str(file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        return Confined(process)

    def files(self, pod: Resolved, user: tuple[int, int], folder: Path) -> list[Path]:
        """Write what a pod finds in /etc: its names, and its user, whose account this machine may have locked."""
        folder.mkdir(parents=True, exist_ok=True)
        own = [name for name, there in self.names.items() if pod.address in there and len(there) == 1]
        lines = ["127.0.0.1 localhost", "::1 localhost", f"{pod.address} {' '.join([*own, pod.pod.hostname])}"]
        lines += (f"{address} {name}" for name, there in self.names.items() for address in there)
        users = "root:x:0:0:root:/root:/bin/sh\n"
        users += f"trainer:x:{user[0]}:{user[1]}::/:/bin/sh\n" if user[0] else ""
        texts = {"hosts": "\n".join(lines) + "\n", "hostname": f"{pod.pod.hostname}\n", "passwd": users, "shadow": ""}
        for name, text in texts.items():
            (folder / name).write_text(text)
        return [folder / name for name in texts]


def hold(world: int, name: str) -> subprocess.Popen[bytes]:
    """Start a process that keeps namespaces; raises RunError where the system refuses."""
    process = subprocess.Popen(  # noqa: S603 - ours
        [*INSIDE, "hold", str(world), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdout is not None
    if process.stdout.readline() != b"ready\n":
        process.kill()
        process.wait()
        raise RunError("this system does not allow namespaces for ordinary users")
    return process


def configure(process: subprocess.Popen[bytes], *lines: str) -> None:
    """Change the network of a process that holds one."""
    done = subprocess.run(  # noqa: S603 - ours
        [*INSIDE, "enter", str(process.pid), "ip", "-batch", "-"],
        input="\n".join(lines).encode() + b"\n",
        capture_output=True,
        check=False,
    )
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip().splitlines()
        raise RunError(f"the pod network cannot be created: {why[0] if why else 'ip is not installed'}")


def possible() -> str:
    """Return why pods cannot be namespaces here; empty where they can."""
    if sys.platform != "linux":
        return "this is not Linux"
    try:
        world = hold(0, "try")
    except RunError as error:
        return str(error)
    try:
        configure(world, f"link add {BRIDGE} type bridge", f"link set {BRIDGE} up")
        pod = hold(world.pid, "try")
        try:
            configure(world, f"link add p0 type veth peer name eth0 netns {pod.pid}")
        finally:
            pod.kill()
            pod.wait()
    except RunError as error:
        return str(error)
    finally:
        world.kill()
        world.wait()
    return ""


def user_of(spec: Mapping[str, Any], container: Mapping[str, Any]) -> tuple[int, int]:
    """Return user and group of a container; whoever runs it where nobody says, as only the image knows."""
    own, pods = container.get("securityContext") or {}, spec.get("securityContext") or {}
    uid = own.get("runAsUser", pods.get("runAsUser"))
    gid = own.get("runAsGroup", pods.get("runAsGroup"))
    return (os.getuid() if uid is None else int(uid), os.getgid() if gid is None else int(gid))


def kept_variables() -> list[str]:
    """Return folders of this machine's programs that lie in places that a pod has its own of."""
    there = [sys.prefix, sys.base_prefix, *os.environ.get("PATH", "").split(":")]
    there += os.environ.get("PYTHONPATH", "").split(":")
    found = {str(Path(item).resolve()) for item in there if item}
    return sorted(
        place for place in found if place.startswith(tuple(f"{hidden}/" for hidden in HIDDEN)) and Path(place).is_dir()
    )
