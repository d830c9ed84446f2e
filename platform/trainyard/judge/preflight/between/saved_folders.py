"""Whether a job that reads what other jobs have saved names the folder of one of them."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.base.system import reads
from trainyard.judge.policies.folders import within
from trainyard.judge.policies.near import is_near
from trainyard.judge.preflight.job.commands import texts
from trainyard.judge.preflight.job.near_mounts import PATH
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.specs.load import Loaded
from trainyard.specs.sources import JobFile

UNSAVED = Rule(
    id="run/saved-folder",
    title="A folder in a volume of checkpoints is one that a job saves in.",
    why="a folder that no job writes is missing or empty, so the program fails, or the pod does not start",
    fix="correct the folder: a job saves in checkpoint.folder, by default its own name",
    source="docs/programs.md; kubernetes v1.35 pkg/kubelet/kubelet_pods.go makeMounts",
    layer="run",
    severity=Severity.WARNING,
)

NEAR = 0.92
"""How alike a misspelt folder is to the one that is meant: two letters of a long name."""

Volume = tuple[str, str, str]
"""Cluster, team and name of a volume."""


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield folders that are nearly those of a job."""
    return check_jobs(loaded.specs.jobs)


def check_jobs(jobs: Iterable[JobFile]) -> Iterator[Finding]:
    """Yield folders that jobs read, which are nearly the folder of another job, and of none."""
    files = list(jobs)
    saved: dict[Volume, set[str]] = defaultdict(set)
    for file in files:
        if file.job.checkpoint is not None:
            names = {file.job.checkpoint.folder or file.name, file.job.renamed_from or ""} - {""}
            saved[file.job.cluster, file.team, file.job.checkpoint.volume] |= {name.split("/")[0] for name in names}
    for file in files:
        for path, volume, folder in folders_read(file) if not file.job.retired else ():
            known = saved.get((file.job.cluster, file.team, volume), set())
            meant = None if folder in known else nearest(folder, known)
            if meant is not None:
                with reads.about(file.source.file):
                    reads.forget()  # what is said of it follows from the files of other jobs
                message = f"no job saves in folder {folder!r} of volume {volume!r}; did you mean {meant!r}?"
                yield UNSAVED.at(file.source, path, message)


def folders_read(file: JobFile) -> Iterator[tuple[Path, str, str]]:
    """Yield where a job names a folder at the top of a volume that it only reads, the volume, and the folder."""
    tops: dict[str, str] = {}
    for index, data in enumerate(file.job.data):
        if data.read_only and data.sub_path:
            yield ("data", index, "subPath"), data.volume, posixpath.normpath(data.sub_path).split("/")[0]
        elif data.read_only:
            tops[data.mount_path.rstrip("/")] = data.volume
    for at, text in texts(file.job) if tops else ():
        for found in PATH.finditer(text):
            path = posixpath.normpath(found["path"])
            top = next((top for top in tops if within(path, top) and path != top), None)
            below = path.removeprefix(f"{top}/")
            if top is not None and ("/" in below or text[found.end() :][:1] != "$"):
                yield at, tops[top], below.split("/")[0]


def nearest(folder: str, known: Iterable[str]) -> str | None:
    """Return the folder that is meant by another: the same but for a letter or two, and with the same digits."""
    near = sorted(name for name in known if is_near(folder, name))
    alike = [name for name in known if digits(name) == digits(folder)]
    return next(iter(near or get_close_matches(folder, alike, n=1, cutoff=NEAR)), None)


def digits(name: str) -> list[str]:
    """Return the digits of a name, by which jobs of a series differ."""
    return re.findall(r"\d", name)
