"""Folders in arguments and variables that no volume holds, and whose name is hardly another than that of a mount."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from trainyard.base.documents import Path
from trainyard.judge.policies.folders import LEFT, within
from trainyard.judge.preflight.job.commands import texts
from trainyard.judge.preflight.job.options import brought
from trainyard.judge.preflight.job.volumes import SYSTEM
from trainyard.specs import Job
from trainyard.upstream.trainers.settings import SCRIPTS, SETTINGS

PATH = re.compile(r"(?:^|[\s=\"'(])(?P<path>/[\w.-]+(?:/[\w.-]+)*)")
"""A path in a text: the text itself, the value of an option, or a word of a script; up to the first variable."""

SHORTEST = 3
"""Letters of a folder's name of which one may be wrong."""


class Near(NamedTuple):
    """A path below a folder that is not there."""

    at: Path
    """Where in the job's file."""
    path: str
    folder: str
    """The folder that is mounted, and that was meant."""


def near_mounts(
    job: Job, contents: Mapping[str, str], mounted: Iterable[str], images: Collection[str]
) -> Iterator[Near]:
    """Yield paths of command lines, variables and small files that are one letter away from a mounted folder.

    Folders of an image, and those that need no volume, may have such a name as well.
    """
    tops = [posixpath.normpath(folder) for folder in mounted]
    small = ((at, text) for at, file, text in brought(job, contents) if file.endswith((*SETTINGS, *SCRIPTS)))
    for at, text in (*texts(job), *small):
        for found in PATH.finditer(text):
            path = posixpath.normpath(found["path"])
            if not any(within(path, top) for top in (*tops, *LEFT)) and (meant := nearest(path, tops, images)):
                yield Near(at, path, meant)
                break


def nearest(path: str, tops: Iterable[str], images: Collection[str]) -> str:
    """Return the mounted folder that a path would be in if one letter were another; empty where there is none."""
    parts = path.strip("/").split("/")
    for top in tops:
        wanted = top.strip("/").split("/")
        differ = [index for index, (had, has) in enumerate(zip(wanted, parts, strict=False)) if had != has]
        if len(parts) < len(wanted) or len(differ) != 1:
            continue
        begun = "/" + "/".join(parts[: differ[0] + 1])
        own = any(folder == begun or folder.startswith(f"{begun}/") for folder in (*images, *SYSTEM))
        if not own and is_near(parts[differ[0]], wanted[differ[0]]):
            return top
    return ""


def is_near(name: str, meant: str) -> bool:
    """Say whether one letter is missing, too many, another, or swapped with the next; digits tell folders apart.

    >>> [is_near(name, "checkpoints") for name in ("checkpoint", "chekcpoints", "Checkpoints", "snapshots")]
    [True, True, True, False]
    >>> is_near("nvme1", "nvme0")
    False
    """
    if name.lower() == meant.lower():
        return True
    if len(meant) < SHORTEST or abs(len(name) - len(meant)) > 1 or without_digits(name) == without_digits(meant):
        return False
    start = next((at for at, (has, had) in enumerate(zip(name, meant, strict=False)) if has != had), None)
    if start is None:
        return True
    rest, wanted = name[start:], meant[start:]
    swapped = rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:]
    return rest[1:] == wanted[1:] or rest[1:] == wanted or rest == wanted[1:] or swapped


def without_digits(name: str) -> str:
    """Return the letters of a name."""
    return re.sub(r"\d", "", name)
