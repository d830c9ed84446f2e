"""Pythons that have what a program imports, which need not be the one that runs the tests."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def interpreter(*modules: str) -> str:
    """Return a Python that has some modules, or skip; `TRAINYARD_PYTHON_<MODULE>`, of the last, may name it."""
    variable = f"TRAINYARD_PYTHON_{modules[-1].upper()}"
    python = os.environ.get(variable, sys.executable)
    imports = "; ".join(f"import {name}" for name in modules)
    if subprocess.run([python, "-c", imports], capture_output=True, check=False).returncode:
        pytest.skip(f"{modules[-1]} is not installed; {variable} may name a Python that has it")
    return python
