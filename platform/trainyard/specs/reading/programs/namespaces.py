"""Namespaces of one's own: another root with nothing but what may be read, no network, no processes of others.

An ordinary user may make them where the kernel lets him; containers and some systems do not.
Source: linux v6.12 Documentation, user_namespaces(7), mount_namespaces(7), pivot_root(2), mount_setattr(2).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

from trainyard.specs.reading.programs.kernel import RefusedError, call, die_with_parent

MOUNTS, CGROUP, UTS, IPC, USER, PID, NET = 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
NOSUID, NODEV = 2, 4
DETACH = 2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
READ_ONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4

ROOT = b"/tmp"
FAILED = 77


class _Attributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns"))


def enter(readable: Sequence[str]) -> bool:
    """Go on in a new process inside, and end this one with it; return False where the kernel refuses, and go on here.

    That is tried in a process beside this one, so that nothing half done is left behind.
    """
    child = os.fork()
    if child == 0:
        try:
            outer = os.getuid(), os.getgid()
            call("unshare", USER | MOUNTS | PID | NET | IPC | UTS | CGROUP)
            identify(*outer)
            inside = os.fork()
            if inside == 0:
                die_with_parent()
                turn(readable)
                return True
            die_with_parent()
            end_like(inside)
        except (RefusedError, OSError):
            os._exit(FAILED)
    die_with = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if die_with != FAILED:
        os._exit(die_with if die_with >= 0 else 1)
    return False


def end_like(process: int) -> None:
    """Wait for a process and end as it does."""
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os._exit(code if code >= 0 else 1)


def identify(user: int, group: int) -> None:
    """Be the same user inside as outside, and nobody else."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path(f"/proc/self/{name}").write_text(text, encoding="ascii")


def turn(readable: Sequence[str]) -> None:
    """Make a root that has these folders and files at their places, read-only, and nothing else."""
    call("mount", b"none", b"/", None, RECURSIVE | PRIVATE, None)
    opened = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in outermost(readable)}
    links = {path: os.readlink(path) for path in map(str, Path("/").iterdir()) if os.path.islink(path)}  # noqa: PTH114, PTH115
    proc = os.open("/proc/self/fd", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    call("mount", b"none", ROOT, b"tmpfs", NOSUID | NODEV, b"size=1m,mode=755")
    for path, handle in opened.items():
        place = Path(os.fsdecode(ROOT) + path)
        if os.path.isdir(f"/proc/self/fd/{handle}"):  # noqa: PTH112
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        call("mount", f"/proc/self/fd/{handle}".encode(), os.fsencode(place), None, BIND | RECURSIVE, None)
        os.close(handle)
    os.close(proc)
    for path, target in links.items():
        place = Path(os.fsdecode(ROOT) + path)
        if not place.exists():
            place.symlink_to(target)
    only = _Attributes(READ_ONLY | ATTR_NOSUID | ATTR_NODEV, 0, 0, 0)
    call("mount_setattr", AT_FDCWD, ROOT, AT_RECURSIVE, only, ctypes.sizeof(only))
    os.chdir(ROOT)
    call("pivot_root", b".", b".")
    call("umount2", b".", DETACH)
    os.chdir("/")


def outermost(paths: Sequence[str]) -> list[str]:
    """Return real paths that are there, without those below others."""
    real = sorted({os.path.realpath(path) for path in paths if os.path.exists(path)})  # noqa: PTH110
    return [path for path in real if not any(path.startswith(f"{other}/") for other in real)]
