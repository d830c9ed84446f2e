"""What Linux is asked for directly, since Python has no functions for it: calls by number, and their errors."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from functools import cache

SECCOMP_FILTER = 2
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 22, 38
CAPABILITIES_V3 = 0x20080522
SIGKILL = 9
PROT_READ, MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS = 1, 2, 0x10, 0x20

NUMBERS = {
    "x86_64": {"mount": 165, "umount2": 166, "pivot_root": 155, "unshare": 272, "capset": 126, "prctl": 157, "mmap": 9},
    "aarch64": {"mount": 40, "umount2": 39, "pivot_root": 41, "unshare": 97, "capset": 91, "prctl": 167, "mmap": 222},
}
"""Numbers of calls by processor (linux v6.12 arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic)."""

SAME = {
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
    "mount_setattr": 442,
}
"""Newer calls, which have one number everywhere."""


class RefusedError(Exception):
    """The kernel does not give what isolates a program; the text says which."""


@cache
def machine() -> str:
    """Return the processor, of those whose calls are known here; raises RefusedError for another, and elsewhere.

    It is found out once, before programs are shown another machine.
    """
    found = platform.machine() if sys.platform == "linux" else sys.platform
    if found not in NUMBERS:
        raise RefusedError(f"programs can only be isolated on Linux on x86_64 or aarch64, but this is {found}")
    return found


def call(name: str, *arguments: int | bytes | ctypes.Structure | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make a call and return what it answers; raises RefusedError with the name of the call and the reason."""
    number = SAME.get(name) or NUMBERS[machine()][name]
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    found = int(function(ctypes.c_long(number), *map(_passed, arguments)))
    if found < 0:
        raise RefusedError(f"{name}: {os.strerror(ctypes.get_errno()).lower()}")
    return found


def _passed(value: object) -> object:
    if isinstance(value, int):
        return ctypes.c_long(value)
    return ctypes.byref(value) if isinstance(value, ctypes.Structure) else value


def die_with_parent() -> None:
    """Let the kernel kill this process when the one that made it ends."""
    call("prctl", PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


def memory_maps(name: str) -> tuple[tuple[int, int], ...]:
    """Return start and size of this process's memory maps whose names begin with a text."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:  # noqa: PTH123
        lines = [line.split(maxsplit=5) for line in maps]
    named = [words[0].split("-") for words in lines if len(words) == 6 and words[5].startswith(name)]
    return tuple((int(start, 16), int(end, 16) - int(start, 16)) for start, end in named)


def put_zeros(start: int, size: int) -> None:
    """Replace a part of this process's memory with zeros that it may read."""
    call("mmap", start, size, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0)


def no_new_privileges() -> None:
    """Give up for ever what a program with more rights could give, which a filter of calls asks for."""
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def drop_capabilities() -> None:
    """Give up all capabilities, those inside of a namespace of one's own too."""
    call("capset", _Header(CAPABILITIES_V3, 0), ctypes.create_string_buffer(24))
