"""Which repository the files are of that somebody names, and what of a repository's findings is about them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.base.findings import Finding, Location
    from trainyard.judge.checks.result import Result

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
    from trainyard.base.errors import TrainyardError
    from trainyard.base.system.files import STDIN, require_once
    from trainyard.base.system.repository import GENERATED, SPECS, is_repository
    from trainyard.specs.reading.misplaced import folder_of

    require_once(names)
    found, parts = Named(), (*SPECS, POLICIES, GENERATED)
    for name in names:
        if name != STDIN and not os.path.lexists(name):
            raise TrainyardError(f"{name} does not exist")
        path = itself(Path(name))
        root = next((parent for parent in (path, *path.parents) if name != STDIN and is_repository(parent)), None)
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
    """Return the findings about the named files, and the number of errors in other files.

    An error that keeps a named job from being rendered counts, wherever it is. What the platform's files or policies
    say may be wrong anywhere, so then all of it counts.
    """
    wanted = alone(files)
    if wanted is None:
        return result, 0
    named = [
        finding
        for finding in result.findings
        if concerns(finding, wanted)
        or finding.rule == UNTRUSTED
        or (finding.is_error and finding.location.file in result.hindering)
    ]
    causes = {finding.cause for finding in named if finding.cause is not None}
    findings = [finding for finding in result.findings if finding in named or finding.location in causes]
    objects = [obj for obj in result.objects if is_in(obj.file, wanted)]
    left = sum(finding.is_error for finding in result.findings) - sum(finding.is_error for finding in findings)
    beside = set() if any("/nodes/" in file for file in wanted) else {"schema"}
    beside |= set() if any(finding.is_error for finding in findings) else {"objects"}
    skipped = [skipped_check for skipped_check in result.skipped if skipped_check.rule not in beside]
    return replace(result, findings=findings, objects=objects, skipped=skipped), left


def alone(files: Sequence[str]) -> tuple[str, ...] | None:
    """Return the files and folders that may be judged without others; None where everything may follow from one."""
    from trainyard.base.system.repository import GENERATED, JOBS

    if any(not file.startswith((f"{JOBS}/", f"{GENERATED}/")) for file in files):
        return None
    return tuple(map(scope, files))


def scope(file: str) -> str:
    """Return the file, or for a small file beside jobs the folder of the jobs that may name it."""
    from trainyard.base.system.repository import JOBS

    is_small = file.startswith(f"{JOBS}/") and Path(file).suffix.lower() not in {"", ".yaml", ".yml", ".py"}
    return file.rpartition("/")[0] if is_small else file


def concerns(finding: Finding, wanted: Iterable[str]) -> bool:
    """Say whether a finding stands in one of these files, or comes from it."""
    return any(is_in(where.file, wanted) for where in (finding.location, finding.spec) if where is not None)


def is_in(file: str, wanted: Iterable[str]) -> bool:
    """Say whether a file is one of these, or below one."""
    return any(file == item or file.startswith(f"{item}/") for item in wanted)


def as_seen(result: Result, root: Path) -> Result:
    """Return a result with paths as they lead there from the folder where this runs."""
    if root.resolve() == Path.cwd():
        return result

    def seen(file: str) -> str:
        return os.path.relpath(root.resolve() / file)

    def place(where: Location | None) -> Location | None:
        return where and replace(where, file=seen(where.file))

    findings = [
        replace(
            finding,
            location=place(finding.location) or finding.location,
            spec=place(finding.spec),
            cause=place(finding.cause),
        )
        for finding in result.findings
    ]
    return replace(result, findings=findings, objects=[replace(obj, file=seen(obj.file)) for obj in result.objects])
