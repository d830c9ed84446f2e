"""Pythons that have what a program imports, which need not be the one that runs the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec

import pytest


def interpreter(*modules: str) -> str:
    """Return a Python that has some modules, or skip; `TRAINYARD_PYTHON_<MODULE>`, of the last, may name it."""
    variable = f"TRAINYARD_PYTHON_{modules[-1].upper()}"
    python = os.environ.get(variable, sys.executable)
    if not has(python, modules):
        pytest.skip(f"{modules[-1]} is not installed; {variable} may name a Python that has it")
    return python


@cache
def has(python: str, modules: tuple[str, ...]) -> bool:
    """Whether a Python has modules; another one is asked, which takes as long as it takes to import them."""
    if python == sys.executable:
        return all(map(find_spec, modules))
    imports = "; ".join(f"import {name}" for name in modules)
    return subprocess.run([python, "-c", imports], capture_output=True, check=False).returncode == 0
