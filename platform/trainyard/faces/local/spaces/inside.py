"""What runs inside namespaces of Linux: it holds those of a pod open, or starts a container in them.

A program of its own, which knows nothing of the package: `python -I -S inside.py MODE ...`.
Facts: user_namespaces(7), pid_namespaces(7), pivot_root(2).
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_USER, NEW_NET, NEW_UTS, NEW_IPC, NEW_MOUNT, NEW_PID = (
    0x10000000,
    0x40000000,
    0x04000000,
    0x08000000,
    0x00020000,
    0x20000000,
)
BIND, RECURSIVE, PRIVATE, READ_ONLY, REMOUNT, NO_SUID, NO_DEVICES = 4096, 16384, 1 << 18, 1, 32, 2, 4
DETACH = 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
DEATH_SIGNAL, NO_NEW_PRIVILEGES = 1, 38
FAILED = 125
"""Exit code where a container could not be started, as of `docker run`."""


def check(result: int, what: str) -> None:
    """Raise the error that the C library has left, if there is one."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    check(LIBC.unshare(flags), "unshare")


def become(uid: int, gid: int, outer_uid: int, outer_gid: int) -> None:
    """Be a user of a namespace that was just made; outside it is still who it was."""
    with suppress(FileNotFoundError):
        Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {outer_uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {outer_gid} 1")


def join(process: int, *names: str) -> None:
    """Enter namespaces of a process, in the order of their names."""
    handles = [os.open(f"/proc/{process}/ns/{name}", os.O_RDONLY) for name in names]
    for handle, name in zip(handles, names, strict=True):
        check(LIBC.setns(handle, 0), f"setns {name}")
        os.close(handle)


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount something."""
    texts = [text.encode() if text is not None else None for text in (source, target, kind)]
    done = LIBC.mount(*texts, ctypes.c_ulong(flags), data.encode() if data else None)
    check(done, f"mount {source} at {target}")


def die_with_parent() -> None:
    """Be killed when the process that started this one ends, however it ends."""
    check(LIBC.prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0), "prctl")


def hold(world: int, name: str) -> None:
    """Make the namespaces of a pod, or of the world that has all pods, and keep them until nobody wants them."""
    die_with_parent()
    uid, gid = os.geteuid(), os.getegid()
    if world:
        join(world, "user")
        uid = gid = 0
    unshare(NEW_USER | NEW_NET | NEW_UTS | NEW_IPC)
    become(0, 0, uid, gid)
    socket.sethostname(name[:63])
    die_with_parent()
    print("ready", flush=True)
    sys.stdin.read()


def enter(process: int, command: Sequence[str]) -> None:
    """Run a command as who may change a pod's network."""
    join(process, "user", "net")
    os.execvp(command[0], list(command))


class Root:
    """The file system of a container: this machine's, with other things in some places."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.own = {""}
        """Folders, as paths below the root, that are ours to write in."""
        mount("tmpfs", folder, "tmpfs", 0, "mode=755")
        for entry in sorted(os.listdir("/")):
            if entry not in {"proc", "sys", "tmp"}:
                self.keep(f"/{entry}", f"/{entry}")
        for entry, kind in (("proc", "proc"), ("sys", "sysfs")):
            Path(folder, entry).mkdir()
            try:
                mount(kind, f"{folder}/{entry}", kind, 0)
            except OSError:
                mount(f"/{entry}", f"{folder}/{entry}", None, BIND | RECURSIVE)
        Path(folder, "tmp").mkdir()
        Path(folder, "tmp").chmod(0o1777)
        self.own.add("tmp")

    def keep(self, source: str, target: str) -> None:
        """Have one of this machine's entries in a place where nothing is yet."""
        there = f"{self.folder}{target}"
        status = os.lstat(source)
        if stat.S_ISLNK(status.st_mode):
            os.symlink(os.readlink(source), there)
            return
        if stat.S_ISDIR(status.st_mode):
            os.mkdir(there)
        else:
            Path(there).touch()
        with suppress(PermissionError):
            mount(source, there, None, BIND | RECURSIVE)

    def shadow(self, path: str) -> None:
        """Turn a folder of this machine into one of ours, with the same entries."""
        there = f"{self.folder}/{path}"
        handle = os.open(there, os.O_PATH | os.O_DIRECTORY)
        old = f"/proc/self/fd/{handle}"
        entries = sorted(os.listdir(old))
        mount("tmpfs", there, "tmpfs", 0, "mode=755")
        for entry in entries:
            self.keep(f"{old}/{entry}", f"/{path}/{entry}")
        os.close(handle)
        self.own.add(path)

    def place(self, target: str, *, folder: bool) -> str:
        """Return where a path is below the root, made if it was not there."""
        parts = [part for part in os.path.normpath(target).split("/") if part]
        at = ""
        for number, part in enumerate(parts):
            below = f"{at}/{part}" if at else part
            there = f"{self.folder}/{below}"
            if os.path.islink(there):
                found = os.path.realpath(there)
                below = (
                    found.removeprefix(self.folder).strip("/") if found.startswith(self.folder) else found.strip("/")
                )
                there = f"{self.folder}/{below}"
            if not os.path.lexists(there):
                if at not in self.own:
                    self.shadow(at)
                if folder or number < len(parts) - 1:
                    os.mkdir(there)
                    self.own.add(below)
                else:
                    Path(there).touch()
            at = below
        return f"{self.folder}/{at}"

    def bind(self, source: str, target: str, *, read_only: bool) -> None:
        """Have a folder or file of this machine somewhere else."""
        there = self.place(target, folder=os.path.isdir(source))
        mount(source, there, None, BIND | RECURSIVE)
        self.own.discard(os.path.normpath(target).strip("/"))
        if read_only:
            with suppress(OSError):
                mount("none", there, None, BIND | REMOUNT | READ_ONLY | NO_SUID | NO_DEVICES)

    def enter(self) -> None:
        """Make it the root of this process."""
        os.chdir(self.folder)
        check(LIBC.syscall(PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
        check(LIBC.umount2(b".", DETACH), "umount")
        os.chdir("/")


def start(request: dict[str, Any]) -> int:
    """Start a container in the namespaces of its pod, and end as it does."""
    die_with_parent()
    join(request["pod"], "user", "net", "uts", "ipc")
    unshare(NEW_MOUNT | NEW_PID)
    child = os.fork()
    if child == 0:
        try:
            run(request)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the container has not started
            print(f"cannot start: {error}", file=sys.stderr, flush=True)
            os._exit(FAILED)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda told, _: os.kill(child, told))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def run(request: dict[str, Any]) -> None:
    """Become the container: its files, its user, its program."""
    mount("none", "/", None, RECURSIVE | PRIVATE)
    root = Root(request["root"])
    for target in request["memory"]:
        mount("tmpfs", root.place(target, folder=True), "tmpfs", NO_SUID | NO_DEVICES, "mode=1777")
        root.own.add(target.strip("/"))
    for source, target, read_only in request["binds"]:
        root.bind(source, target, read_only=read_only)
    cwd = root.place(request["cwd"], folder=True).removeprefix(root.folder) or "/"
    root.enter()
    uid, gid = request["uid"], request["gid"]
    unshare(NEW_USER)
    become(uid, gid, 0, 0)
    check(LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0), "prctl")
    os.chdir(cwd)
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    die_with_parent()
    execute(request["command"], request["env"])


def execute(command: Sequence[str], env: dict[str, str]) -> None:
    """Run a program, found on the path of its own environment."""
    try:
        os.execvpe(command[0], list(command), env)
    except FileNotFoundError:
        print(f"{command[0]}: not found on PATH {env.get('PATH', '')}", file=sys.stderr, flush=True)
        os._exit(127)


def main(mode: str, *arguments: str) -> int:
    """Do what is asked."""
    if mode == "hold":
        hold(int(arguments[0]), arguments[1])
    elif mode == "enter":
        enter(int(arguments[0]), arguments[1:])
    else:
        return start(json.loads(Path(arguments[0]).read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
