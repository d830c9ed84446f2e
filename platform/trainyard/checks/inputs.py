"""Finds and reads the manifests that somebody names: files, folders, or standard input."""

from __future__ import annotations

import re
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
RECORDS = re.compile(r"(^|/)generated/[^/]+/(index|ledger|nodes)/")
"""Files of a generated tree that are for no API server: our own records, and what belongs into node images."""


def collect(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of every manifest file, folders sorted; raises TrainyardError for a missing path."""
    for name in paths:
        if name == STDIN:
            yield "<stdin>", sys.stdin.buffer.read()
            continue
        path = Path(name)
        if path.is_dir():
            for found in sorted(files.walk(path), key=lambda each: each.path):
                file = path / found.path
                if found.regular and is_manifest(file):
                    yield from read(file)
        elif path.exists():
            yield from read(path)
        else:
            raise TrainyardError(f"{name} does not exist")


def is_manifest(file: Path) -> bool:
    """Say whether a file of a folder is looked at, by its name."""
    return file.suffix in SUFFIXES and not RECORDS.search(file.resolve().as_posix())


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
