"""One training run: everything that a job becomes on its cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from constructs import Construct

from trainyard.constructs.base import Objects
from trainyard.errors import SpecError
from trainyard.kinds import Resolved, build
from trainyard.preflight import jobs
from trainyard.specs import Cluster, Job, Repository, Team
from trainyard.specs.reading.layout import job_name
from trainyard.specs.sources import JobFile, Source, Specs


class TrainingRun(Objects):
    """The objects of one run, named by a digest of the job: the workload, and its Service and files if any.

    `job`, `team` and `cluster` are the models that files are read into; `contents` has the text of each of the job's
    `files` by its source; `run` is a run that was checked already. Raises SpecError with every sentence that stands
    against the job.
    """

    @overload
    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        job: Job,
        team_name: str,
        team: Team,
        cluster: Cluster,
        contents: Mapping[str, str] = ...,
    ) -> None: ...

    @overload
    def __init__(self, scope: Construct, id_: str, *, run: Resolved) -> None: ...

    def __init__(self, scope: Construct, id_: str, *, run: Resolved | None = None, **props: Any) -> None:
        super().__init__(scope, id_)
        self.run = run or resolved(**props)
        self.put(build(self.run))

    @property
    def name(self) -> str:
        """`<job>-<digest>`, the name of its objects."""
        return self.run.run.name


def resolved(
    *, name: str, job: Job, team_name: str, team: Team, cluster: Cluster, contents: Mapping[str, str] | None = None
) -> Resolved:
    """Return a job's run; raises SpecError with every sentence that stands against it."""
    file = JobFile(team_name, name, job, Source(f"job {name}"), contents or {})
    specs = Specs(Repository(live=True, repo_url="https://none"), {job.cluster: cluster}, {team_name: team}, (file,))
    run, findings = jobs.check(specs, file)
    misnamed = job_name(f"job {name}", name)
    errors = [finding.message for finding in (*([misnamed] if misnamed else []), *findings) if finding.is_error]
    missing = sorted({each.source for each in job.files} - set(contents or {}))
    errors += [f"contents lack the text of file {each!r}" for each in missing]
    if run is None or errors:
        raise SpecError(f"job {name!r} cannot run: " + "; ".join(errors or ["its cluster lacks its pool"]))
    return run
