"""What Git's index holds of a tree and no disk shows: submodules, files that are not checked out, translations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.base.findings import Finding, Location
from trainyard.base.system.git import REGULAR, Git, Staged
from trainyard.base.system.repository import GENERATED, SPECS
from trainyard.render.tree.rules import UNSEEN

SUBMODULE = "160000"

FEW = 200
"""Files about which Git is asked by their names: to look at all of a large tree takes a tenth of a second."""


def unseen_paths(git: Git, wanted: Mapping[str, str], disk: Mapping[str, str | None]) -> Iterator[Finding]:
    """Yield a finding for each path of the index that is not what is on disk, though Git takes it for that.

    `wanted` and `disk` have content ids by path below `generated/`. What somebody is editing, or has not added yet, is
    other than the index too, and Git knows it: only what Git takes for unchanged is told.
    """
    doubtful: list[Staged] = []
    for entry in git.staged(GENERATED, *SPECS):
        path = entry.path.removeprefix(f"{GENERATED}/")
        if entry.mode == SUBMODULE:
            message = "this is a submodule, whose content no diff shows; remove it"
            yield UNSEEN.of(Location(entry.path, 1, 1), message)
        elif path == entry.path:
            continue
        elif entry.hidden and path not in disk and wanted.get(path) != entry.oid:
            message = "this file is in Git but not checked out, so nothing checks it; check out the whole repository"
            yield UNSEEN.of(Location(entry.path, 1, 1), message)
        elif entry.mode in REGULAR and disk.get(path) not in {None, entry.oid}:
            doubtful.append(entry)
    asked = [entry.path for entry in doubtful] if len(doubtful) <= FEW else [GENERATED]
    changed = git.unstaged(*asked) if asked else frozenset()
    for entry in doubtful:
        if entry.hidden or entry.path not in changed:
            message = "this file differs between Git and the disk; remove the line in .gitattributes that converts it"
            yield UNSEEN.of(Location(entry.path, 1, 1), message)
