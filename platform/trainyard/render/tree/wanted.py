"""What the job files ask for: one run each, on one cluster."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.base.findings import Location
from trainyard.render.tree import layout
from trainyard.render.tree.ledgers import JobKey
from trainyard.specs.run import digest, run_name
from trainyard.specs.sources import JobFile


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a job file asks for: one run on one cluster, or none any more."""

    cluster: str
    team: str
    job: str
    spec: str
    """Digest of the fields as written."""
    retired: bool
    """Whether nothing of it is rendered: it is retired, or a pipeline starts it."""
    number: int
    """The job's `run:`, 1 where it has none."""
    location: Location
    """The job file."""
    former: str = ""
    """The name that the job had before, where its file says so."""

    @property
    def run(self) -> str:
        """Name of the run."""
        return run_name(self.job, self.spec)

    @property
    def key(self) -> JobKey:
        """Which ledger the run is in."""
        return self.cluster, self.team, self.job

    @property
    def folder(self) -> str:
        """The run's folder on its cluster."""
        return layout.run_folder(self.team, self.run)


def wanted_entry(job: JobFile) -> Wanted:
    """Return the run that a job file asks for."""
    spec = job.job
    name = digest(spec, job.contents)
    return Wanted(
        spec.cluster,
        job.team,
        job.name,
        name,
        spec.retired or spec.step,
        spec.run or 1,
        Location(job.source.file, 1, 1),
        spec.renamed_from or "",
    )
