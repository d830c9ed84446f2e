"""What holds a program that nobody has read: taken once by the process that runs programs, and closed by each of them.

Two locks, of which the kernel has to give the second and one of the first: namespaces with another root, or Landlock;
and a filter of system calls. Where it gives all three, all three are taken. Nothing of this is Python's, so nothing
that a program does to Python, by ctypes or otherwise, opens it again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from trainyard.specs.reading.programs import kernel, landlock, namespaces, sandbox, seccomp
from trainyard.specs.reading.programs.kernel import RefusedError

LIBRARIES = ("/etc/ld.so.cache",)
"""What the loader reads beside the folders of libraries."""

CLOCKS = "[vvar"
"""How the memory is called that the kernel keeps clocks in (linux v6.12 Documentation/ABI/stable/vdso, mm/mmap.c).

Where it holds zeros, the C library finds no clock there and asks the kernel, which the filter of calls refuses.
"""

HELP = "use Linux 5.13 or newer, in a container that allows Landlock; or review the program and use --unsafe-python"


@dataclass(frozen=True, slots=True)
class Isolation:
    """What this process has taken."""

    inside: bool
    """Whether it is in namespaces of its own."""
    rules: int | None
    """The descriptor of Landlock's rules, None where there are none."""
    clocks: tuple[tuple[int, int], ...]
    """Start and size of the memory from which the C library reads clocks without asking the kernel."""

    def close(self, answer: int) -> None:
        """Give up everything but counting, reading modules and writing to one descriptor; raises RefusedError."""
        kernel.no_new_privileges()
        kernel.drop_capabilities()
        if self.rules is not None:
            landlock.restrict(self.rules)
        os.closerange(3, answer)
        os.closerange(answer + 1, 2**20)
        for start, size in self.clocks:
            with suppress(RefusedError):  # kernels from 6.15 on can seal this memory
                kernel.put_zeros(start, size)
        seccomp.restrict()


def enter() -> Isolation:
    """Take what the kernel gives, and go on in another process; raises RefusedError where that isolates nothing.

    Without namespaces a program could still learn which files exist, and of what size, and nothing else of them.
    """
    kernel.machine()
    paths = list(dict.fromkeys(readable()))
    clocks = kernel.memory_maps(CLOCKS)
    inside = namespaces.enter(paths)
    rules = landlock.ruleset(paths) if landlock.is_offered() else None
    if not inside and rules is None:
        raise RefusedError(f"this kernel allows neither user namespaces nor Landlock; {HELP}")
    return Isolation(inside, rules, clocks)


def readable() -> Iterator[str]:
    """Yield the folders and files that programs may read: modules, and the libraries that these are made of."""
    yield from (str(sandbox.entry_folder(Path(entry)).resolve()) for entry in sys.path if entry)
    yield from LIBRARIES
    yield from libraries()


def libraries() -> Iterable[str]:
    """Return the folders of shared libraries that are loaded here."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:  # noqa: PTH123
        loaded: Sequence[str] = [line.rstrip("\n").split(maxsplit=5)[-1] for line in maps if ".so" in line]
    return sorted({os.path.dirname(path) for path in loaded if path.startswith("/")})  # noqa: PTH120
