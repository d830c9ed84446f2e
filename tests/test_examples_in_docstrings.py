"""Examples in docstrings say what the functions return."""

from __future__ import annotations

import doctest
import importlib

import pytest

from conftest import ROOT

SOURCE = ROOT / "platform"
MODULES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((SOURCE / "trainyard").rglob("*.py"))
    if "\n    >>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_an_example_in_a_docstring_holds(module: str) -> None:
    """Each example of a module gives the value that stands below it."""
    done = doctest.testmod(importlib.import_module(module))
    assert done.attempted
    assert not done.failed
