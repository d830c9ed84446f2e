"""The package's own sources, each parsed once for all tests that read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from conftest import ROOT

PACKAGE = ROOT / "platform" / "trainyard"


@dataclass(frozen=True)
class Read:
    """What tests ask of a module's text."""

    texts: frozenset[str]
    """Constants that are texts, and parts of texts that are put together; docstrings left out."""
    imports: frozenset[str]
    """Every module that it imports, wherever in it, and what it takes from one, as `module.name`."""


def read(text: str) -> Read:
    """Read the text of a module."""
    nodes = list(beneath(ast.parse(text)))
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in prose)
    imports: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            imports |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return Read(frozenset(node.value for node in texts if isinstance(node.value, str)), frozenset(imports))


def beneath(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every node: what `ast.walk` does, in a third of the time."""
    left = [tree]
    while left:
        yield (node := left.pop())
        for value in vars(node).values():
            if isinstance(value, list):
                left += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                left.append(value)


def trees(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield every module below folders of the repository, by its path; trees are large, so none is kept."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


@cache
def package() -> dict[str, Read]:
    """Return every module of the package, by its path below it, sorted."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): read(path.read_text(encoding="utf-8")) for path in paths}
