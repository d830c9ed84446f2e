"""Folders in arguments and variables that no volume holds, and whose name is hardly another than that of a mount."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from trainyard.base.documents import Path
from trainyard.judge.policies.folders import LEFT, within
from trainyard.judge.policies.near import is_near
from trainyard.judge.preflight.job.commands import texts
from trainyard.judge.preflight.job.options import brought
from trainyard.judge.preflight.job.volumes import SYSTEM
from trainyard.specs import Job
from trainyard.upstream.trainers.settings import SCRIPTS, SETTINGS

PATH = re.compile(r"(?:^|[\s=\"'(])(?P<path>/[\w.-]+(?:/[\w.-]+)*)")
"""A path in a text: the text itself, the value of an option, or a word of a script; up to the first variable."""


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
