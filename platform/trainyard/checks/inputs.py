"""Finds and reads the manifests that somebody names: files, folders, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainyard.documents import load
from trainyard.errors import TrainyardError
from trainyard.findings import Finding
from trainyard.manifests import Manifest, expand
from trainyard.system import files

SUFFIXES = (".yaml", ".yml", ".json")
STDIN = "-"


def collect(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of every manifest file, folders in sorted order; raises TrainyardError for a path that is not there."""
    for name in paths:
        if name == STDIN:
            yield "<stdin>", sys.stdin.buffer.read()
            continue
        path = Path(name)
        if path.is_dir():
            for found in sorted(files.walk(path), key=lambda each: each.path):
                if found.regular and found.path.endswith(SUFFIXES):
                    yield from read(path / found.path)
        elif path.exists():
            yield from read(path)
        else:
            raise TrainyardError(f"{name} does not exist")


def read(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield one file; raises TrainyardError where it cannot be read."""
    try:
        data = files.read(path)
    except OSError as error:
        raise TrainyardError(f"{path} cannot be read: {error.strerror}") from error
    if data is not None:
        yield path.as_posix(), data


def decode(name: str, data: bytes) -> tuple[list[Manifest], list[Finding]]:
    """Return the objects of a file and what could not be decoded; one bad file never hides another."""
    documents, findings = load(data, file=name)
    manifests, odd = expand(documents)
    return manifests, [*findings, *odd]
