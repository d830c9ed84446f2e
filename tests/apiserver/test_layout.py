"""Where things stand: a kind's rules by its name, a rule by its id, and what the package may know."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from conftest import ROOT
from sources import package
from trainyard.upstream import apiserver
from trainyard.upstream.apiserver import core, webhooks
from trainyard.upstream.apiserver.core.defaults import DEFAULTS

PACKAGE = Path(apiserver.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
MADE_UP = re.compile(r'\b(Rule|Fault)\(\s*f"|f"(schema|meta|core|update|cel|webhook|policy)/\{')
"""A rule's id that is put together."""


def function(package: str, entry: str) -> object:
    """Return what an entry of a table names."""
    module, _, name = entry.partition(":")
    return getattr(import_module(f"{package}.{module}"), name)


@pytest.mark.parametrize("table", [core.CHECKS, DEFAULTS], ids=["rules", "defaults"])
def test_a_core_kinds_module_is_named_after_it(table: dict[tuple[str, str], str]) -> None:
    """Whoever looks for a core kind finds its module by its name, or by its API group's; there is no exception."""
    for (group, kind), entry in table.items():
        home = re.split("[.:]", entry)[0]
        assert home in {kind.lower(), group.split(".")[0]}, f"{kind} of {group or 'core'} stands in {home}"
        assert callable(function(core.__name__, entry))


def test_a_core_kinds_defaults_stand_beside_its_rules() -> None:
    """One module has both."""
    for key, entry in DEFAULTS.items():
        assert entry.partition(":")[0] == core.CHECKS[key].partition(":")[0]


@pytest.mark.parametrize("table", ["ADMISSION", "DEFAULTS", "RECONCILE"])
def test_an_operators_module_is_named_after_it(table: str) -> None:
    """Whoever looks for an operator's webhooks finds them by its name; a kind may be several operators' business."""
    for entries in getattr(webhooks, table).values():
        for project, entry in entries:
            assert re.split("[.:]", entry)[0] == project.replace("-", "_")
            assert callable(function(webhooks.__name__, entry))


def test_the_face_is_whole() -> None:
    """Every name of the face can be imported, and no other; modules of the package do without it."""
    assert all(getattr(apiserver, name) is not None for name in apiserver.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Jury'"):
        _ = apiserver.Jury
    face = {f"{apiserver.__name__}.{name}" for name in apiserver.__all__}
    modules = {name: module for name, module in package().items() if name.startswith("upstream/apiserver/")}
    assert modules
    assert not [name for name, module in modules.items() if module.imports & face]


def test_ids_of_rules_are_written_out() -> None:
    """Whoever greps for a finding's rule finds where it is declared; those of the Kubeflow jobs are put together."""
    for module in MODULES:
        if module.name != "training_operator.py":
            assert not MADE_UP.search(module.read_text()), module.name


def test_every_folder_has_its_row() -> None:
    """The page on this package has a row for each of its folders."""
    page = (ROOT / "docs" / "apiserver.md").read_text()
    folders = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("*/__init__.py")}
    parts = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("admission/*/__init__.py")}
    linked = set(re.findall(r"^\|.*\]\(\.\./platform/trainyard/upstream/apiserver/([a-z/]+)\)", page, re.MULTILINE))
    assert linked == folders - {"admission"} | parts
