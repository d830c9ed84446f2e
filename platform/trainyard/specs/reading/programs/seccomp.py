"""A filter of system calls: what a program needs to count and to import modules is allowed, everything else refused.

No process, thread, socket, signal, shared memory, file for writing, other process's memory and no io_uring is had
without a call that is not listed here, and no clock is read. Source: linux v6.12 include/uapi/linux/{seccomp,filter}.h.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterator, Sequence

from trainyard.specs.reading.programs.kernel import PR_SET_SECCOMP, SECCOMP_FILTER, call, machine

AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""What the kernel calls a processor in a filter (include/uapi/linux/audit.h)."""

X32 = 0x40000000
"""From here on calls of x86_64 are those of another interface, with the same effects under other numbers."""

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""Of the filter's instructions: load a word, compare and jump, end."""
ALLOW, ERROR, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER, PROCESSOR, ARGUMENTS = 0, 4, 16
"""Where the words are that a filter looks at; an argument has two, the lower one first."""

ABSENT = -1

CALLS = {
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "close": (3, 57),
    "close_range": (436, 436),
    "lseek": (8, 62),
    "dup": (32, 23),
    "getdents64": (217, 61),
    "stat": (4, ABSENT),
    "fstat": (5, 80),
    "lstat": (6, ABSENT),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, ABSENT),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, ABSENT),
    "readlinkat": (267, 78),
    "getcwd": (79, 17),
    "umask": (95, 166),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    "membarrier": (324, 283),
    "sched_yield": (24, 124),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "poll": (7, ABSENT),
    "ppoll": (271, 73),
    "select": (23, ABSENT),
    "pselect6": (270, 72),
    "clock_getres": (229, 114),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "uname": (63, 160),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "sched_getaffinity": (204, 123),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getrlimit": (97, 163),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
"""Calls that are allowed whatever they are given, with their numbers on x86_64 and aarch64."""

WRITES = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o10000000 | 0o20000000
"""Flags of opening a file for anything but to read it: write, both, create, empty, append, path alone, without name."""

OPENS = {"open": ((2, ABSENT), 1), "openat": ((257, 56), 2)}
"""Calls that open a file, and the argument that has the flags."""

ONE_OF = {"ioctl": ((16, 29), 1, (0x5401, 0x5413, 0x5450, 0x5451)), "fcntl": ((72, 25), 1, (1, 2, 3, 1030))}
"""Calls with an argument that may have these values: whether it is a terminal, and whether programs inherit it."""

IF_ZERO = {"prlimit64": ((302, 261), (0, 2))}
"""Calls with arguments that have to be null: limits are asked for, not set, and those of the process itself."""

FUTEX = ((202, 98), 1, 3)
"""The call that waits for memory to change, and the arguments that have what it does and until when."""

UNTIL = 0x17E
"""Bits of a futex's operation, one of which says that it is none of WAIT and WAKE: others wait until a time of a clock,
and how such a call ends would tell what time it is. Here the time has always passed. Source: linux v6.12
include/uapi/linux/futex.h."""

NOT_THERE = {"clone3": (435, 435), "openat2": (437, 437)}
"""Calls for which the C library has another way, which is looked at here: the kernel seems to lack them."""


def instructions(processor: str) -> Iterator[bytes]:
    """Yield the filter for a processor."""
    which = list(AUDIT).index(processor)
    yield step(LOAD, PROCESSOR)
    yield step(EQUAL, AUDIT[processor], 1, 0)
    yield step(RETURN, KILL)
    yield step(LOAD, NUMBER)
    if processor == "x86_64":
        yield step(AT_LEAST, X32, 0, 1)
        yield step(RETURN, KILL)
    for numbers in CALLS.values():
        if numbers[which] != ABSENT:
            yield from on(numbers[which], [step(RETURN, ALLOW)])
    for numbers in NOT_THERE.values():
        yield from on(numbers[which], [step(RETURN, ERROR | errno.ENOSYS)])
    for numbers, index in OPENS.values():
        if numbers[which] != ABSENT:
            yield from on(numbers[which], [word(index), step(ANY_BIT, WRITES, 1, 0), step(RETURN, ALLOW), refuse()])
    for numbers, index, values in ONE_OF.values():
        equal = [step(EQUAL, value, len(values) - place, 0) for place, value in enumerate(values)]
        yield from on(numbers[which], [word(index), *equal, refuse(), step(RETURN, ALLOW)])
    for numbers, indexes in IF_ZERO.values():
        yield from on(numbers[which], if_zero(indexes))
    numbers, operation, until = FUTEX
    untimed = [*if_zero((until,))[:-1], step(RETURN, ERROR | errno.ETIMEDOUT)]
    yield from on(numbers[which], [word(operation), step(ANY_BIT, UNTIL, 0, len(untimed) - 2), *untimed])
    yield refuse()


def if_zero(indexes: Sequence[int]) -> list[bytes]:
    """Return the steps that allow a call whose arguments at these places are null, and refuse it otherwise."""
    loads = [word(index, upper=upper) for index in indexes for upper in (False, True)]
    rest = [2 * (len(loads) - place) - 1 for place in range(len(loads))]
    zero = [
        instruction for load, far in zip(loads, rest, strict=True) for instruction in (load, step(EQUAL, 0, 0, far))
    ]
    return [*zero, step(RETURN, ALLOW), refuse()]


def on(number: int, steps: list[bytes]) -> Iterator[bytes]:
    """Yield the steps for the call of a number, which are passed over at others."""
    yield step(EQUAL, number, 0, len(steps))
    yield from steps


def step(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    """Return one instruction, which jumps so many further."""
    return struct.pack("=HBBI", code, true, false, value)


def word(index: int, *, upper: bool = False) -> bytes:
    """Return the step that loads an argument's lower or upper half."""
    return step(LOAD, ARGUMENTS + 8 * index + 4 * upper)


def refuse() -> bytes:
    """Return the step that refuses a call, which Python raises as a PermissionError."""
    return step(RETURN, ERROR | errno.EPERM)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def restrict() -> None:
    """Put this process under the filter, for ever; raises RefusedError where the kernel has none."""
    code = b"".join(instructions(machine()))
    call("prctl", PR_SET_SECCOMP, SECCOMP_FILTER, _Program(len(code) // 8, code), 0, 0)
