"""Finds and reads the manifests that somebody names: files, folders, or standard input."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from trainyard.documents import load
from trainyard.errors import TrainyardError
from trainyard.findings import Finding, Location, Severity
from trainyard.manifests import Manifest, expand
from trainyard.rules import Rule
from trainyard.system import files
from trainyard.system.repository import GENERATED
from trainyard.tree import layout

SUFFIXES = (".yaml", ".yml", ".json")
STDIN = "-"
RECORDS = re.compile(rf"(^|/){GENERATED}/[^/]+/({'|'.join(layout.OF_NO_SERVER)})")
"""Files of a generated tree that are for no API server: our own records, and what belongs into node images."""

NO_FILES = Rule(
    id="decode/no-files",
    title="A folder that is named holds manifests.",
    why="nothing is judged, and nothing says so",
    fix="name another folder",
    source="docs/apiserver.md",
    layer="decode",
    severity=Severity.WARNING,
)
UNREADABLE = Rule(
    id="decode/unreadable",
    title="A file that is named can be read.",
    why="it is not judged",
    fix="mend its permissions, or leave it out",
    source="docs/apiserver.md",
    layer="decode",
    may_warn=True,
)

Report = Callable[[Finding], None]


def collect(paths: Iterable[str], report: Report = lambda _: None) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of every manifest file, folders sorted; raises TrainyardError for a missing path.

    Links to files are followed, links to folders are not. `report` is told of files that cannot be read and of folders
    that hold none: they hide no other.
    """
    for name in paths:
        path = Path(name)
        if name == STDIN:
            yield "<stdin>", sys.stdin.buffer.read()
        elif path.is_dir():
            yield from below(path, report)
        elif path.exists():
            yield from read(path, report)
        else:
            raise TrainyardError(f"{name} does not exist")


def below(folder: Path, report: Report) -> Iterator[tuple[str, bytes]]:
    """Yield the manifest files of a folder."""
    count = 0
    for found in sorted(files.walk(folder), key=lambda each: each.path):
        file = folder / found.path
        linked = stat.S_ISLNK(found.stat.st_mode) and not file.is_dir()
        if (found.regular or linked) and is_manifest(file):
            count += 1
            yield from read(file, report, Severity.WARNING if linked else Severity.ERROR)
    if not count:
        message = f"folder {str(folder)!r} holds no file that ends in {', '.join(SUFFIXES)}; name another"
        report(NO_FILES.of(Location(folder.as_posix()), message))


def is_manifest(file: Path) -> bool:
    """Say whether a file of a folder is looked at, by its name."""
    return file.suffix in SUFFIXES and not RECORDS.search(file.absolute().as_posix())


def read(path: Path, report: Report, severity: Severity = Severity.ERROR) -> Iterator[tuple[str, bytes]]:
    """Yield one file, or report why it cannot be read; a link that leads nowhere may be an editor's lock."""
    try:
        yield path.as_posix(), path.read_bytes()
    except OSError as error:
        message = f"file cannot be read: {(error.strerror or str(error)).lower()}"
        report(UNREADABLE.of(Location(path.as_posix()), message, severity=severity))


def decode(name: str, data: bytes) -> tuple[list[Manifest], list[Finding]]:
    """Return the objects of a file and what could not be decoded; one bad file never hides another."""
    manifests, findings, _ = decode_from(name, data)
    return manifests, findings


def decode_from(name: str, data: bytes, line: int = 1) -> tuple[list[Manifest], list[Finding], int]:
    """Decode a piece of a file that starts at a line of it; return how many documents it counts, too."""
    documents, findings = load(data, file=name, first_line=line)
    numbers = (*(each.index for each in documents), *(each.location.document for each in findings))
    manifests, odd = expand(documents)
    return manifests, [*findings, *odd], 1 + max((each for each in numbers if each is not None), default=-1)
