"""Whether a job saves its checkpoints into a volume that is a data set of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.base.system import reads
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.specs.load import Loaded
from trainyard.specs.sources import JobFile

IN_DATA = Rule(
    id="ckp-in-data",
    title="Checkpoints are in a volume for checkpoints, not in a data set that other jobs read as a whole.",
    why="programs that read all files of a data set read checkpoints too, and a full volume fails whoever writes it",
    fix="name the team's volume for checkpoints; waive this if the volume is for both",
    source="docs/jobs.md",
    severity=Severity.WARNING,
)

READERS = 3
"""So many other jobs that read the whole volume make it a data set; fewer may evaluate what is saved there."""


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield jobs that save where no other job does, into what others read as data."""
    return check_jobs(file for file in loaded.specs.jobs if not file.job.retired)


def check_jobs(jobs: Iterable[JobFile]) -> Iterator[Finding]:
    """Yield the jobs of a team that alone save into a data set, where others save into another volume.

    A job that reads the volume itself, beside any other that does, has to be no slip of one that evaluates.
    """
    files = list(jobs)
    saved = Counter((file.team, file.job.checkpoint.volume) for file in files if file.job.checkpoint)
    read = Counter((file.team, volume) for file in files for volume in volumes_read(file))
    for file in files:
        if file.job.checkpoint is None or saved[file.team, file.job.checkpoint.volume] > 1:
            continue
        volume = file.job.checkpoint.volume
        itself = volume in volumes_read(file)
        others = read[file.team, volume] - itself
        used = {name: count for (team, name), count in saved.items() if team == file.team and name != volume}
        if used and others >= (1 if itself else READERS):
            with reads.about(file.source.file):
                reads.forget()  # what is said of it follows from the files of other jobs
            count = "another job reads" if others == 1 else f"{others} other jobs read"
            message = f"checkpoints go into volume {volume!r}, which {count} as data"
            usual = max(used, key=lambda name: used[name])
            yield IN_DATA.at(file.source, ("checkpoint", "volume"), f"{message}; others save into {usual!r}")


def volumes_read(file: JobFile) -> set[str]:
    """Return the volumes that a job reads as a whole."""
    return {data.volume for data in file.job.data if data.read_only and data.sub_path is None}
