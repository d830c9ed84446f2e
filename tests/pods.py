"""Pods as Linux namespaces: a rendered container's own command, files and variables, as the user that it asks for.

A pod has its own network, host name, processes, shared memory, /tmp and /etc; programs are this machine's. What is
missing is the images, the kubelet's devices and limits, and seccomp.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

TOOLS = ("ip", "unshare", "setpriv", "mount", "env")

SHARED = "/mnt"
"""Where every pod finds the folder that all pods share, as a volume."""

NETWORK = "10.231.7"
"""Addresses of pods, which only they see: their bridge has no way out."""

KEPT = ("alternatives", "group", "ld.so.cache", "nsswitch.conf", "openmpi")
"""What programs of this machine want below /etc."""

NUMBERS = itertools.count()
"""Of the bridges of this process."""

SET_UP = """\
set -e
etc=$1 shared=$2 name=$3; shift 3
mount --make-rprivate /
mount -t proc proc /proc
mount --bind "$etc" /etc
mount --bind "$shared" /mnt
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /tmp
echo "$name" > /proc/sys/kernel/hostname
cd "$WORKDIR"
exec setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
  env -i "$@"
"""


def missing() -> str | None:
    """Return what pods need and this machine lacks, or None; whether it lets us make them, `tried` says."""
    if os.geteuid() != 0:
        return "root, to make namespaces"
    absent = [name for name in TOOLS if shutil.which(name) is None]
    if absent:
        return ", ".join(absent)
    return None


@dataclass
class Pod:
    """One container of a pod, and its network."""

    name: str
    space: str
    link: str
    template: Mapping[str, Any]
    etc: Path
    shared: Path
    env: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def container(self) -> Mapping[str, Any]:
        """The container that trains."""
        found: Mapping[str, Any] = self.template["spec"]["containers"][0]
        return found

    def start(self) -> Pod:
        """Start the container, or start it again in its place."""
        container = self.container
        own = {variable["name"]: variable["value"] for variable in container["env"] if "value" in variable}
        env = [f"{name}={value}" for name, value in {**self.env, **own}.items()]
        space = ["ip", "netns", "exec", self.space]
        space += ["unshare", "--mount", "--uts", "--ipc", "--pid", "--fork"]
        set_up = ["sh", "-c", SET_UP, "set-up", str(self.etc), str(self.shared), self.name]
        command = [*container["command"], *container.get("args", ())]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*space, *set_up, *env, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "WORKDIR": container.get("workingDir", "/")},
            )
        return self

    def tell(self, number: signal.Signals) -> None:
        """Send a signal to the container's first process, as the kubelet does."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for child in children.read_text().split():
            os.kill(int(child), number)

    def lose(self) -> None:
        """Take the pod away as a node that dies: nobody hears of it."""
        subprocess.run(["ip", "netns", "exec", self.space, "ip", "link", "set", "eth0", "down"], check=True)
        self.tell(signal.SIGKILL)
        self.wait()

    def wait(self, seconds: float = 60) -> int:
        """Return the container's exit code."""
        assert self.process is not None
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"pod {self.name} still runs after {seconds} s; its log:\n{self.output}") from None

    @property
    def output(self) -> str:
        """What the container has written."""
        return self.log.read_text() if self.log.exists() else ""


@dataclass
class Pods:
    """Pods that reach each other, and a folder that they share."""

    folder: Path
    bridge: str
    names: dict[str, str] = field(default_factory=dict)
    """Addresses of the names that a cluster's DNS would know."""
    pods: list[Pod] = field(default_factory=list)

    @property
    def shared(self) -> Path:
        """The folder that every pod sees as `SHARED`."""
        return self.folder / "shared"

    def add(
        self,
        name: str,
        template: Mapping[str, Any],
        *,
        hosts: list[str],
        files: Mapping[str, Mapping[str, str]],
        env: Mapping[str, str],
    ) -> Pod:
        """Make a pod of a template, without starting it.

        `hosts` are the names by which the others find it, `files` the texts below folders of /etc, `env` what the image
        and the operator set.
        """
        number = len(self.names) + 2
        space, link = f"{self.bridge}-{number}", f"{self.bridge}v{number}"
        address = f"{NETWORK}.{number}"
        for line in (
            f"netns add {space}",
            f"link add {link} type veth peer name eth0 netns {space}",
            f"link set {link} master {self.bridge} up",
            f"-n {space} address add {address}/24 dev eth0",
            f"-n {space} link set eth0 up",
            f"-n {space} link set lo up",
        ):
            subprocess.run(["ip", *line.split()], check=True)
        etc = self.folder / f"etc-{number}"
        etc.mkdir()
        for kept in KEPT:
            if (here := Path("/etc", kept)).is_dir():
                shutil.copytree(here, etc / kept, symlinks=True)
            elif here.exists():
                shutil.copy(here, etc / kept)
        (etc / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\ntrainer:x:1000:1000::/nowhere:/bin/sh\n")
        for folder, texts in files.items():
            (etc / folder).mkdir()
            for file, text in texts.items():
                (etc / folder / file).write_text(text)
                (etc / folder / file).chmod(0o644)
        self.names[" ".join(hosts)] = address
        found = Pod(name, space, link, template, etc, self.shared, env, self.folder / f"{number}.log")
        self.pods.append(found)
        lines = ["127.0.0.1 localhost", *(f"{address} {names}" for names, address in self.names.items())]
        for pod in self.pods:
            (pod.etc / "hosts").write_text("\n".join(lines) + "\n")
        return found

    def until(self, holds: Callable[[], bool], what: str, seconds: float = 60) -> None:
        """Wait until something holds, or fail with the logs of all pods."""
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                logs = "\n".join(f"--- {pod.name}\n{pod.output}" for pod in self.pods)
                raise AssertionError(f"not after {seconds} s: {what}\n{logs}")
            time.sleep(0.05)


@contextmanager
def pods() -> Iterator[Pods]:
    """Yield pods that are all gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="trainyard-pods-", dir="/var/tmp"))
    folder.chmod(0o755)
    found = Pods(folder, f"ty{os.getpid()}n{next(NUMBERS)}")
    found.shared.mkdir()
    os.chown(found.shared, 1000, 1000)
    subprocess.run(["ip", "link", "add", found.bridge, "type", "bridge"], check=True)
    subprocess.run(["ip", "link", "set", found.bridge, "up"], check=True)
    try:
        yield found
    finally:
        for pod in found.pods:
            if pod.process is not None and pod.process.poll() is None:
                pod.tell(signal.SIGKILL)
                pod.process.wait()
        for pod in found.pods:
            subprocess.run(["ip", "link", "del", pod.link], check=True)
            subprocess.run(["ip", "netns", "del", pod.space], check=True)
        subprocess.run(["ip", "link", "del", found.bridge], check=True)
        shutil.rmtree(folder)


@cache
def tried(*command: str) -> str | None:
    """Return why a pod cannot run a command here, or None: namespaces are refused, or its user does not reach it."""
    template = {"spec": {"containers": [{"command": command, "env": []}]}}
    try:
        with pods() as world:
            pod = world.add("try", template, hosts=["try"], files={}, env={"PATH": "/usr/bin:/bin"}).start()
            return None if pod.wait() == 0 else pod.output.strip() or f"{' '.join(command)} fails"
    except (AssertionError, subprocess.CalledProcessError) as error:
        return str(error)
