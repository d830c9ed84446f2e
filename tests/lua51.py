"""Lua as Argo CD runs health scripts: 5.1, with the basic functions, tables and the clock, and no strings or maths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lupa import lua51

KEPT = frozenset({"_G", "_VERSION", "assert", "error", "ipairs", "next", "pairs", "pcall", "select", "tonumber"})
KEPT_TOO = frozenset({"tostring", "type", "unpack", "table", "package", "require", "rawget", "rawset", "rawequal"})
"""What stays of the globals (argo-cd v3.2.6 util/lua/lua.go, runLuaWithResourceActions); its `os` has dates alone."""


def health(script: str, value: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return status and message of a health script for an object."""
    lua = lua51.LuaRuntime()
    lua.execute('getmetatable("").__index = nil')
    names = lua.globals()
    for name in [name for name in names if name not in KEPT | KEPT_TOO]:
        names[name] = None
    names["obj"] = lua.table_from(value, recursive=True)
    found = lua.execute(script)
    return found["status"], found["message"]
