"""Processes started, remembered by pid and start time, and stopped by pid."""

import contextlib
import json
import os
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

UNVERIFIED = ssl.create_default_context()
UNVERIFIED.check_hostname, UNVERIFIED.verify_mode = False, ssl.CERT_NONE
DIRECT = urllib.request.build_opener(  # health endpoints on loopback
    urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=UNVERIFIED)
)


def free_ports(count: int) -> list[int]:
    """Return ports on loopback that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def started_at(pid: int) -> str | None:
    """Kernel start time of a living process: tells a reused pid from ours."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rsplit(")", 1)[1].split()
    return None if fields[0] == "Z" else fields[19]


def memory_mib(pid: int) -> int:
    """Return the resident memory of a process in MiB."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) // 1024
    except OSError:
        pass
    return 0


# Go never sends loopback through a proxy: what an operator tries to reach beyond it (KubeRay:
# the dashboard of a cluster that is not there) is refused here, and nothing leaves the machine.
NOWHERE = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")

SERVICES = ".svc,10.96.0.0/16"
"""What a server calls in its own cluster: names and addresses of Services, whose way it knows without a proxy."""


def clean_environment() -> dict[str, str]:
    """Return the environment without proxies, for processes that may reach loopback alone."""
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    return {**kept, **NOWHERE, **dict.fromkeys(("NO_PROXY", "no_proxy"), SERVICES)}


class Processes:
    """The processes of one cluster, remembered in its folder."""

    def __init__(self, run: Path):
        self.run, self.file = run, run / "state.json"
        self.state = json.loads(self.file.read_text()) if self.file.exists() else {"processes": {}}

    def save(self) -> None:
        """Write down what runs."""
        self.run.mkdir(parents=True, exist_ok=True)
        tmp = self.file.with_suffix(".tmp")
        tmp.write_text(json.dumps(self.state, indent=1))
        tmp.replace(self.file)

    def alive(self, name: str) -> bool:
        """Whether a process still is the one that was started."""
        p = self.state["processes"].get(name)
        return bool(p) and started_at(p["pid"]) == p["started"]

    def start(self, name: str, argv: list[str], env=None, health="") -> None:
        """Start a process with a log of its own."""
        folder = self.run / name
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / "log").exists():
            (folder / "log").replace(folder / "log.before")
        with (folder / "log").open("wb") as log:
            p = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**clean_environment(), **(env or {})},
                start_new_session=True,
            )
        self.state["processes"][name] = {
            "pid": p.pid,
            "started": started_at(p.pid),
            "health": health,
            "argv": argv,
            "env": env or {},
        }
        self.save()

    def restart(self, name: str) -> None:
        """Stop a process, and start it as it was started before."""
        before = self.state["processes"][name]
        self.stop((name,))
        self.start(name, before["argv"], before["env"], before["health"])

    def wait(self, name: str, seconds: float) -> None:
        """Wait until a process is healthy; raise the end of its log where it is not."""
        health, end = self.state["processes"][name]["health"], time.monotonic() + seconds
        while True:
            if not self.alive(name):
                raise RuntimeError(f"{name} died:\n{self.tail(name)}")
            try:
                if not health or DIRECT.open(health, timeout=2).status == 200:
                    return
            except OSError as e:
                if isinstance(e, urllib.error.HTTPError) and health.endswith("#any"):
                    return  # it listens
            if time.monotonic() > end:
                raise TimeoutError(f"{name} is not ready:\n{self.tail(name)}")
            time.sleep(0.1)

    def tail(self, name: str, lines=8) -> str:
        """Return the last lines of a process's log."""
        try:
            return "\n".join((self.run / name / "log").read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def stop(self, names=None) -> int:
        """SIGTERM, then SIGKILL; operators first, etcd last."""
        chosen = [n for n in reversed(list(self.state["processes"])) if names is None or n in names]
        stopped = 0
        for batch in (
            [n for n in chosen if n not in ("etcd", "kube-apiserver")],
            [n for n in chosen if n == "kube-apiserver"],
            [n for n in chosen if n == "etcd"],
        ):
            living = [n for n in batch if self.alive(n)]
            stopped += len(living)
            self._end(living)
        for n in chosen:
            del self.state["processes"][n]
        self.save()
        return stopped

    def kill(self) -> int:
        """Stop all at once, without asking; return 0."""
        for name, process in self.state["processes"].items():
            if self.alive(name):
                os.kill(process["pid"], signal.SIGKILL)
        return 0

    def _end(self, names: list[str]) -> None:
        for sig, seconds in ((signal.SIGTERM, 4), (signal.SIGKILL, 4)):
            for n in names:
                if self.alive(n):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self.state["processes"][n]["pid"], sig)
            end = time.monotonic() + seconds
            while time.monotonic() < end and any(self.alive(n) for n in names):
                self._reap(names)
                time.sleep(0.05)

    def _reap(self, names: list[str]) -> None:
        for n in names:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.state["processes"][n]["pid"], os.WNOHANG)
