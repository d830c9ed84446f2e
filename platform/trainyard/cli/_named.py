"""Which repository the files are of that somebody names, and what of a repository's findings is about them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.checks.result import Result
    from trainyard.findings import Finding, Location

STDIN = "-"
POLICIES = "policies"


@dataclass(slots=True)
class Named:
    """Files, sorted by what they are."""

    repositories: dict[Path, list[str]] = field(default_factory=dict)
    """By repository, the specs, policies and generated files, as paths in it; none of them means all."""
    manifests: list[str] = field(default_factory=list)
    """Files of no repository of ours, as they were named."""


def sort(names: Sequence[str]) -> Named:
    """Return files and folders by what they are; raises TrainyardError for one that is not there."""
    from trainyard.errors import TrainyardError
    from trainyard.specs.reading.misplaced import folder_of
    from trainyard.system.repository import GENERATED, SPECS, is_repository

    found, parts = Named(), (*SPECS, POLICIES, GENERATED)
    for name in names:
        if name != STDIN and not os.path.lexists(name):
            raise TrainyardError(f"{name} does not exist")
        path = itself(Path(name))
        root = next((each for each in (path, *path.parents) if name != STDIN and is_repository(each)), None)
        inside = path.relative_to(root).as_posix() if root else ""
        if root is not None and (inside == "." or folder_of(inside) or any(meets(inside, part) for part in parts)):
            found.repositories.setdefault(root, []).append("" if inside == "." else inside)
        else:
            found.manifests.append(name)
    return found


def itself(path: Path) -> Path:
    """Return a path from the root; a link to a file is the link, which no spec may be, and not what it leads to."""
    return path.parent.resolve() / path.name if path.is_symlink() and not path.is_dir() else path.resolve()


def meets(one: str, other: str) -> bool:
    """Say whether one path is the other, within it or around it, as `platform` is around `platform/clusters`."""
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


UNTRUSTED = "spec/untrusted"
"""The rule by which policies of a branch do not judge: that is told whatever files are named."""


def about(result: Result, files: Sequence[str]) -> tuple[Result, int]:
    """Return what of a repository's findings is about files of it, and how many errors stand elsewhere.

    What the platform's files or policies say may be wrong anywhere, so then all of it counts.
    """
    from trainyard.system.repository import GENERATED, JOBS

    if any(not each.startswith((f"{JOBS}/", f"{GENERATED}/")) for each in files):
        return result, 0
    wanted = tuple(map(scope, files))
    findings = [each for each in result.findings if concerns(each, wanted) or each.rule == UNTRUSTED]
    objects = [each for each in result.objects if is_in(each.file, wanted)]
    left = sum(each.is_error for each in result.findings) - sum(each.is_error for each in findings)
    skipped = [each for each in result.skipped if each.rule != "schema" or any("/nodes/" in file for file in wanted)]
    return replace(result, findings=findings, objects=objects, skipped=skipped), left


def scope(file: str) -> str:
    """Return the file, or for a small file beside jobs the folder of the jobs that may name it."""
    from trainyard.system.repository import JOBS

    is_small = file.startswith(f"{JOBS}/") and Path(file).suffix.lower() not in {"", ".yaml", ".yml", ".py"}
    return file.rpartition("/")[0] if is_small else file


def concerns(finding: Finding, wanted: Iterable[str]) -> bool:
    """Say whether a finding stands in one of these files, or comes from it."""
    return any(is_in(where.file, wanted) for where in (finding.location, finding.spec) if where is not None)


def is_in(file: str, wanted: Iterable[str]) -> bool:
    """Say whether a file is one of these, or below one."""
    return any(file == each or file.startswith(f"{each}/") for each in wanted)


def as_seen(result: Result, root: Path) -> Result:
    """Return a result with paths as they lead there from the folder where this runs."""
    if root.resolve() == Path.cwd():
        return result

    def seen(file: str) -> str:
        return os.path.relpath(root.resolve() / file)

    def place(where: Location | None) -> Location | None:
        return where and replace(where, file=seen(where.file))

    findings = [
        replace(each, location=place(each.location) or each.location, spec=place(each.spec)) for each in result.findings
    ]
    return replace(result, findings=findings, objects=[replace(each, file=seen(each.file)) for each in result.objects])
