"""Other releases of operators than the oracle's own: the folder of each, in which Go builds it.

`ORACLES_RELEASES="jobset=0.11.1 trainer=2.2.1"` names them for `build` and `up`. A release is built with the libraries
that its module asks for. One that no module proxy has is built from the sources of its tag, if these were put into
`$ORACLES_HOME/sources/<name>-<release>`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from . import paths
from .components import OPERATORS, OWN

Run = Callable[[Sequence[str], Path], object]
"""Runs the Go command with arguments in a folder."""


def folder(name: str) -> Path:
    """Return the folder with the Go module of an operator's release."""
    version = OPERATORS[name].version
    if version == OWN[name]:
        return paths.MODULES / name
    sources = paths.HOME / "sources" / f"{name}-{version}"
    return sources if sources.exists() else paths.HOME / "modules" / f"{name}-{version}"


def write_module(name: str, run: Run) -> None:
    """Write the module of another release, unless it is there."""
    target, op = folder(name), OPERATORS[name]
    if (target / "go.mod").exists():
        return
    target.mkdir(parents=True, exist_ok=True)
    packages = [op.package, *(package for _, package, _ in op.also)]
    run(["mod", "init", f"trainyard.dev/oracles/{name}"], target)
    for main in (paths.MODULES / name).rglob("*.go"):
        (copy := target / main.relative_to(paths.MODULES / name)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(main, copy)
    for package in packages:
        own = package.startswith(".")
        run(["get", *(() if own else ("-tool",)), f"{op.module if own else package}@v{op.version}"], target)
    if any(package.startswith(".") for package in packages):
        run(["mod", "tidy"], target)
