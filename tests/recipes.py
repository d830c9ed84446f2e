"""What docs/extending.md shows is added as its readers add it: a module to a folder, a package beside Trainyard."""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import page
from trainyard.base.system import registry

PAGE = "extending.md"
REPOSITORY = Path(__file__).resolve().parents[1]


def code(section: str, language: str = "python") -> list[str]:
    """Return the code of a section."""
    return list(page.blocks(PAGE, language, section))


@contextmanager
def fresh(*caches: Any) -> Iterator[None]:
    """Forget what registries hold, before and after, and the modules that were added."""
    for cached in (registry.installed_entry_points, *caches):
        cached.cache_clear()
    yield
    for cached in (registry.installed_entry_points, *caches):
        cached.cache_clear()
    for name, module in list(sys.modules.items()):
        if added(Path(getattr(module, "__file__", None) or "/")):
            del sys.modules[name]


def added(file: Path) -> bool:
    """Whether a test wrote a module's file; the repository may itself lie below the folder of temporary files."""
    return file.is_relative_to(tempfile.gettempdir()) and not file.is_relative_to(REPOSITORY)


def put(folder: Path, package: ModuleType, name: str, text: str, patch: Any) -> None:
    """Put a module beside those of a package, without touching the package's own folder."""
    (folder / name).write_text(text, encoding="utf-8")
    patch.setattr(package, "__path__", [*package.__path__, str(folder)])


@contextmanager
def installed(folder: Path, modules: Mapping[str, str], points: str, *caches: Any) -> Iterator[None]:
    """Install a package `acme` of modules as far as its entry points, in the words of pyproject.toml, are found."""
    lines: list[str] = []
    for group, names in tomllib.loads(points)["project"]["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {at}" for name, at in names.items())]
    files = {
        "acme/__init__.py": "",
        **{f"acme/{name}": text for name, text in modules.items()},
        "acme-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme\nVersion: 1\n",
        "acme-1.dist-info/entry_points.txt": "\n".join(lines) + "\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, fresh(*caches):
        patch.syspath_prepend(folder)
        yield
