"""Landlock: reads below some folders and nothing else, for this process and all that it could start.

Source: linux v6.12 include/uapi/linux/landlock.h, Documentation/userspace-api/landlock.rst.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from contextlib import suppress

from trainyard.specs.reading.programs.kernel import RefusedError, call

READ_FILE, READ_DIR = 1 << 2, 1 << 3
ASK_VERSION, PATH_BENEATH = 1, 1

FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All that can be refused of files, from this version of the interface on."""
NET, SCOPES = 0b11, 0b11
"""TCP, from version 4 on; sockets without a name on disk and signals to others, from version 6 on."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def ruleset(readable: Sequence[str]) -> int:
    """Return the descriptor of rules by which only what is below these paths can be read; raises RefusedError."""
    version = call("landlock_create_ruleset", None, 0, ASK_VERSION)
    files = max(mask for since, mask in FILES.items() if since <= version)
    asked = _Ruleset(files, NET if version >= 4 else 0, SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    made = call("landlock_create_ruleset", asked, size, 0)
    for path in readable:
        with suppress(FileNotFoundError):
            allow(made, path)
    return made


def allow(rules: int, path: str) -> None:
    """Allow to read what is below a path, or a file itself."""
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights = READ_FILE | READ_DIR if os.path.isdir(path) else READ_FILE  # noqa: PTH112
        call("landlock_add_rule", rules, PATH_BENEATH, _Beneath(rights, opened), 0)
    finally:
        os.close(opened)


def restrict(rules: int) -> None:
    """Put this process under rules, for ever."""
    call("landlock_restrict_self", rules, 0)


def is_offered() -> bool:
    """Say whether this kernel has Landlock, switched on."""
    try:
        return call("landlock_create_ruleset", None, 0, ASK_VERSION) > 0
    except RefusedError:
        return False
