"""What a program may not do, as Python refuses it, in words: write, read, reach others, take much memory or time.

It takes two assignments to pass by this, and nothing rests on it but messages and limits; `isolation` holds.
"""

from __future__ import annotations

import ast
import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

PACKAGE = "trainyard"

CPU_SECONDS = 10
MEMORY_BYTES = 2**30

READS = frozenset({"open", "os.listdir"})
"""Audit events of looking at the disk: allowed where modules lie, since imports are late."""

REFUSED = ("os.", "socket.", "subprocess.", "shutil.", "ctypes.", "mmap.", "pty.", "fcntl.", "resource.", "signal.")
"""Audit events of reaching outside, by their first words (Python's table of audit events)."""

NOWHERE = -1
"""What is open in the place of standard input and output, from before all that is closed."""

SYSTEM = frozenset({"posix", "nt"})
"""Modules whose functions `os` has too: there they are replaced."""

LOOKS = ("stat", "lstat", "access", "readlink", "statvfs", "getxattr", "listxattr")
"""Functions of `os` that look at the disk without an audit event."""


def limit() -> None:
    """Set limits on time, memory and files, and send what is written without Python nowhere."""
    for stream in range(3):
        os.dup2(NOWHERE, stream)
    for kind, most in (
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most + 1))


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the modules that a program imports, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node.lineno


def importable(module: str) -> bool:
    """Whether a program may import a module."""
    return module == "trainyard.specs" or module.partition(".")[0] in sys.stdlib_module_names - SYSTEM


def shut_down() -> None:
    """Refuse from now on to write, to look outside of modules, and to reach other processes or hosts."""
    entries = [Path(entry) for entry in sys.path if entry]
    folders = [entry_folder(entry) for entry in entries]
    roots = tuple(f"{path}{os.sep}" for folder in folders for path in (folder.absolute(), folder.resolve()))
    known = {name.partition(".")[0] for name in sys.modules} | sys.stdlib_module_names

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "import":
            if str(arguments[0]).partition(".")[0] not in known:
                raise ModuleNotFoundError(f"No module named {arguments[0]!r}", name=str(arguments[0]))
        elif event in READS:
            if writes(event, arguments) or not is_inside(arguments[0], roots):
                raise PermissionError(f"{event} of {str(arguments[0])[:80]!r}")
        elif event.startswith(REFUSED):
            raise PermissionError(event)

    for name in LOOKS:
        if hasattr(os, name):
            setattr(os, name, blind(name, getattr(os, name), roots))
    fstat = os.fstat
    setattr(os, "fstat", lambda number: timeless(fstat(number)))  # noqa: B010 - mypy takes no other form
    sys.addaudithook(hook)


def entry_folder(entry: Path) -> Path:
    """Return the folder in which modules of an entry of `sys.path` lie.

    Beside our package in a repository lie its specs, which programs do not read; where we are installed, packages do.
    """
    ours = entry / PACKAGE
    return ours if ours.is_dir() and not (entry / "pydantic").is_dir() else entry


def writes(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a file is opened for more than to read it."""
    flags = arguments[2] if event == "open" and isinstance(arguments[2], int) else 0
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))


def is_inside(path: object, roots: tuple[str, ...]) -> bool:
    """Whether a path lies in one of the folders, by its words alone."""
    text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else None
    return text is not None and (os.path.abspath(text) + os.sep).startswith(roots)  # noqa: PTH100 - also takes '..' out


def blind(name: str, look: Callable[..., Any], roots: tuple[str, ...]) -> Callable[..., Any]:
    """Return a function of `os` that looks nowhere but in these folders."""

    def looked(path: Any, *arguments: Any, **options: Any) -> Any:
        if not is_inside(path, roots):
            raise PermissionError(f"os.{name} of {str(path)[:80]!r}")
        return timeless(look(path, *arguments, **options))

    return looked


def timeless(found: Any) -> Any:
    """Return the status of a file as it would be in 1970, since the kernel writes the day into files that are read."""
    return os.stat_result((*found[:7], 0, 0, 0)) if isinstance(found, os.stat_result) else found
