"""The programs that pods run from a ConfigMap, as texts: files of their own beside this module."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def program_text(name: str) -> str:
    """Return the text of a program, such as `burn_in`, `check`, `flush`, `snapshot` or `stage`."""
    return (resources.files(__package__) / f"{name}_program.py").read_text(encoding="utf-8")
