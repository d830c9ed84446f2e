"""Whether jobs that save have folders of their own, and what a renamed job was before is gone."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.base.system import reads
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.specs.load import Loaded
from trainyard.specs.models.job import Job
from trainyard.specs.sources import JobFile

FOLDER = Rule(
    id="ckp-folder",
    title="Every job saves in a folder of its own.",
    why=(
        "two runs in one folder resume from each other's checkpoints, or overwrite them, or wait for the other's lease"
    ),
    fix="remove checkpoint.folder, or retire the other job",
    source="docs/programs.md",
    layer="run",
    may_waive=True,
)
RENAMED = Rule(
    id="spec/renamed-from",
    title="The job that renamedFrom names no longer exists.",
    why="otherwise both jobs run and save in one folder",
    fix="delete the old job's file, or remove renamedFrom",
    source="docs/jobs.md",
)


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield jobs of a team that save in the folder of another, and jobs that are there beside what they were before."""
    specs = loaded.specs
    live = [file for file in specs.jobs if not file.job.retired]
    names = {(file.team, file.name): file for file in live}
    first: dict[tuple[str, str, str, str], JobFile] = {}
    renamed: dict[tuple[str, str], JobFile] = {}
    for file in sorted(live, key=is_moved):
        if others(file.job):
            with reads.about(file.source.file):
                reads.forget()  # what is said of it follows from the files of other jobs
        before = file.job.renamed_from
        if before is not None and (file.team, before) in names:
            message = f"renamedFrom is {before!r}, but that job still exists; delete its file, or remove renamedFrom"
            yield RENAMED.at(file.source, ("renamedFrom",), message)
        twin = renamed.setdefault((file.team, before), file) if before is not None else file
        if twin is not file:
            message = f"renamedFrom is {before!r}, in job {twin.name!r} too; remove it from one of them"
            yield RENAMED.at(file.source, ("renamedFrom",), message)
        if file.job.checkpoint is None:
            continue
        folder = file.job.checkpoint.folder or file.name
        other = first.setdefault((file.job.cluster, file.team, file.job.checkpoint.volume, folder), file)
        if other is not file and not (file.job.step and other.job.step):
            message = f"folder is {folder!r}, where job {other.name!r} saves too; use another folder, or remove it"
            yield FOLDER.at(file.source, ("checkpoint", "folder"), message)


def others(job: Job) -> set[str]:
    """Return the names of other jobs that a job speaks of, so that what is said of it follows from their files too."""
    return {name for name in (job.renamed_from, job.checkpoint and job.checkpoint.folder) if name}


def is_moved(file: JobFile) -> bool:
    """Whether a job saves in a folder that it names itself: it is told where another one saves there by its name."""
    return file.job.checkpoint is not None and file.job.checkpoint.folder is not None
