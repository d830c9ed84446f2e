"""Finds and reads the manifests that somebody names: files, folders, or standard input."""

from __future__ import annotations

import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from trainyard.base.documents import load
from trainyard.base.errors import TrainyardError
from trainyard.base.findings import Finding, Location, Severity
from trainyard.base.limits import FILE_BYTES
from trainyard.base.manifests import Manifest, expand
from trainyard.base.rules import Rule
from trainyard.base.system import files
from trainyard.base.system.files import PIPED, STDIN
from trainyard.base.system.ignored import Excluded, Ignored, is_never_read
from trainyard.base.system.repository import GENERATED
from trainyard.judge.checks.result import Other
from trainyard.render.tree import layout

SUFFIXES = (".yaml", ".yml", ".json")

RECORDS = re.compile(rf"(^|/){GENERATED}/[^/]+/({'|'.join(layout.OF_NO_SERVER)})")
"""Files of a generated tree that are for no API server: our own records, and what belongs into node images."""

NO_FILES = Rule(
    id="decode/no-files",
    title="A folder on the command line contains manifests.",
    why="nothing would be checked, without an error",
    fix="use another folder",
    source="docs/apiserver.md",
    layer="decode",
    severity=Severity.WARNING,
)
UNREADABLE = Rule(
    id="decode/unreadable",
    title="Files on the command line can be read.",
    why="an unreadable file is not checked",
    fix="correct its permissions, or remove it from the command",
    source="docs/apiserver.md",
    layer="decode",
    may_warn=True,
)

EXCLUDED, IGNORED = "file that --exclude names", "file that .gitignore names"
IGNORED_FOLDERS = "folder that .gitignore names"
PATTERN = re.compile(r"[*?\[]")
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)

Report = Callable[[Finding], None]


def collect(
    paths: Iterable[str],
    report: Report = lambda _: None,
    *,
    excluded: Excluded | None = None,
    passed: Counter[str] | None = None,
) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of every manifest file, folders sorted; raises TrainyardError for a missing path.

    Links to files in the same folder are followed, links to folders and out of it are not; of a link that is named
    itself the file counts. `report` is told of files that cannot be read and of folders
    that hold none: they hide no other. `passed` counts what is left out, by why: what .gitignore names and `excluded`
    has; of what is named itself only the latter is.
    """
    excluded, passed = excluded or Excluded(()), Counter() if passed is None else passed
    for name in paths:
        path = Path(name)
        if name == STDIN:
            yield PIPED, files.piped_bytes(most=FILE_BYTES)
        elif path.is_dir():
            yield from below(path, report, excluded, passed)
        elif not path.exists():
            raise TrainyardError(absent(name))
        elif excluded.has(path.as_posix()):
            passed[EXCLUDED] += 1
        elif path.is_fifo() and (not path.is_symlink() or path.as_posix().startswith("/dev/")):  # as `<(program)` is
            yield path.as_posix(), path.read_bytes()
        else:
            yield from read(path, report)


def spelled_out(paths: Iterable[str]) -> list[str]:
    """Return the paths with patterns in place of which no shell has put the files, as in quotes, replaced by those."""
    found: list[str] = []
    for name in paths:
        if name == STDIN or not PATTERN.search(name) or Path(name).exists():
            found.append(name)
            continue
        if ADDRESS.match(name):
            raise TrainyardError(absent(name))
        top = Path(name).anchor
        try:
            matched = sorted(path.as_posix() for path in Path(top).glob(name.removeprefix(top)))
        except ValueError:
            raise TrainyardError(f"pattern {name!r} has ** next to other characters; put ** between slashes") from None
        if not matched:
            raise TrainyardError(f"no file matches {name!r}; correct the pattern, or use a folder")
        found += matched
    return found


def absent(name: str) -> str:
    """Return the sentence on a path that is not there."""
    if ADDRESS.match(name):
        return f"{name} is an address; fetch it first: curl -sSfL {name} | trainyard validate -"
    return f"{name} does not exist"


def below(folder: Path, report: Report, excluded: Excluded, passed: Counter[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the manifest files of a folder."""
    count, ignored, top = 0, Ignored(folder), folder.as_posix()

    def skip(path: str) -> bool:
        if is_never_read(path):
            return True
        if ignored.has(path, folder=True):
            passed[IGNORED_FOLDERS] += 1
            return True
        return False

    for found in sorted(files.walk(folder, skip), key=lambda file_: file_.path):
        file = folder / found.path
        linked = stat.S_ISLNK(found.stat.st_mode) and not file.is_dir()
        if not (found.regular or linked) or not is_manifest(file):
            continue
        count += 1
        if linked and not leads_inside(file, folder):
            message = "file is a link to a place outside the folder, so it was not followed; name the file itself"
            report(UNREADABLE.of(Location(file.as_posix()), message, severity=Severity.WARNING))
        elif ignored.has(found.path, folder=False):
            passed[IGNORED] += 1
        elif excluded.has(found.path, f"{top}/{found.path}"):
            passed[EXCLUDED] += 1
        else:
            yield from read(file, report, Severity.WARNING if linked else Severity.ERROR)
    if not count:
        message = f"folder {str(folder)!r} has no files ending in {', '.join(SUFFIXES)}; name another folder"
        report(NO_FILES.of(Location(folder.as_posix()), message))


def leads_inside(file: Path, folder: Path) -> bool:
    """Say whether a link leads to what is in the folder that was named, or in a circle, as whoever reads it is told."""
    try:
        return file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return True


def left_out(folder: Path, excluded: Excluded) -> Callable[[str], bool]:
    """Return a test whether a file below a folder, which need not exist any more, is left out of it."""
    ignored, top = Ignored(folder), folder.as_posix()

    def left(path: str) -> bool:
        above = [parent.as_posix() for parent in PurePosixPath(path).parents][:-1]
        return (
            is_never_read(path)
            or any(ignored.has(folder_, folder=True) for folder_ in reversed(above))
            or ignored.has(path, folder=False)
            or excluded.has(path, f"{top}/{path}")
        )

    return left


def report_nothing(paths: Sequence[str], passed: Counter[str]) -> Iterator[Finding]:
    """Yield a warning if no object was checked: the folder may be the wrong one."""
    if count := sum(passed.values()):
        if Path(paths[0]).is_dir():
            files = "one file, which has" if count == 1 else f"{count} files, which have"
            message = f"folder {paths[0]!r} has {files} no Kubernetes object to check; name another folder"
        else:
            files = "this file has" if count == 1 else f"{count} files have"
            message = f"{files} no Kubernetes object to check; name others"
        yield NO_FILES.of(Location(paths[0]), message)


def say_others(others: Iterable[Other], spelled: Iterable[str]) -> list[str]:
    """Return a line for each file on the command line that is no manifest, with what it was taken for."""
    named = {Path(name).as_posix() for name in spelled}
    return [f"{other.file} is not a manifest: {other.what}" for other in others if other.file in named]


def is_manifest(file: Path) -> bool:
    """Say whether a file of a folder is looked at, by its name."""
    return file.suffix in SUFFIXES and not RECORDS.search(file.absolute().as_posix())


def read(path: Path, report: Report, severity: Severity = Severity.ERROR) -> Iterator[tuple[str, bytes]]:
    """Yield one file, or report why it cannot be read; a link that leads nowhere may be an editor's lock."""
    try:
        content = files.read_regular(path)
    except OSError as error:
        message = f"file cannot be read: {(error.strerror or str(error)).lower()}"
        report(UNREADABLE.of(Location(path.as_posix()), message, severity=severity))
        return
    if content is None:
        message = "file is a pipe or a device; name a plain file, or pipe it to `trainyard validate -`"
        report(UNREADABLE.of(Location(path.as_posix()), message, severity=severity))
        return
    yield path.as_posix(), content


def decode(name: str, data: bytes) -> tuple[list[Manifest], list[Finding]]:
    """Return the objects of a file and what could not be decoded; one bad file never hides another."""
    documents, findings = load(data, file=name)
    manifests, odd = expand(documents)
    return manifests, [*findings, *odd]
