"""What containers are told to run, of objects of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.manifests import Manifest

LISTS = frozenset({"containers", "initContainers"})


def container_texts(manifest: Manifest) -> Iterator[tuple[Path, str, str]]:
    """Yield path, field and text of images, commands, arguments and variables, wherever an object has containers."""
    source = manifest.document.text
    if manifest.kind != "CustomResourceDefinition" and not (source is not None and source.isascii()):
        for path, container in containers_in(manifest.value, ()):
            yield from texts_of(path, container)


def containers_in(value: Any, path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the containers in a value."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from containers_in(item, (*path, index))
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in LISTS and isinstance(item, list):
                yield from (((*path, name, at), entry) for at, entry in enumerate(item) if isinstance(entry, dict))
            else:
                yield from containers_in(item, (*path, name))


def texts_of(path: Path, container: dict[str, Any]) -> Iterator[tuple[Path, str, str]]:
    """Yield path, field and text of what one container runs."""
    for field in ("image", "workingDir"):
        if isinstance(text := container.get(field), str):
            yield (*path, field), field, text
    for field in ("command", "args"):
        words = container.get(field)
        for index, text in enumerate(words if isinstance(words, list) else []):
            if isinstance(text, str):
                yield (*path, field, index), f"{field}[{index}]", text
    variables = container.get("env")
    for index, entry in enumerate(variables if isinstance(variables, list) else []):
        if isinstance(entry, dict) and isinstance(text := entry.get("value"), str):
            yield (*path, "env", index, "value"), str(entry.get("name")), text
