"""One training run: everything that a job becomes on its cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from constructs import Construct

from trainyard.base.errors import SpecError
from trainyard.change.constructs.base import Objects
from trainyard.change.constructs.site import Space
from trainyard.judge.preflight import jobs
from trainyard.render.kinds import Resolved, build
from trainyard.specs import Job
from trainyard.specs.reading.layout import job_name
from trainyard.specs.sources import JobFile, Source, Specs


class TrainingRun(Objects):
    """The objects of one run, named by a digest of the job: the workload, and its Service and files if any.

    `job` is the model that a file is read into, and `space` the team that it is of; the job is called `name`, by
    default as the construct. `contents` has the text of each of the job's `files` by its source. `run` is a run that
    was checked already. Raises SpecError with every error of the job.
    """

    @overload
    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        job: Job,
        space: Space,
        name: str | None = ...,
        contents: Mapping[str, str] = ...,
    ) -> None: ...

    @overload
    def __init__(self, scope: Construct, id_: str, *, run: Resolved) -> None: ...

    def __init__(self, scope: Construct, id_: str, *, run: Resolved | None = None, **props: Any) -> None:
        super().__init__(scope, id_)
        self.run = run or resolve_run(**{**props, "name": props.get("name") or id_})
        self.put(build(self.run))

    @property
    def name(self) -> str:
        """`<job>-<digest>`, the name of its objects."""
        return self.run.run.name


def resolve_run(*, name: str, job: Job, space: Space, contents: Mapping[str, str] | None = None) -> Resolved:
    """Return a job's run; raises SpecError with every error of the job."""
    site, file = space.site, JobFile(space.name, name, job, Source(f"job {name}"), contents or {})
    specs = Specs(site.repository, {site.name: site.cluster}, {space.name: space.team}, (file,))
    run, findings = jobs.check(specs, file)
    misnamed = job_name(f"job {name}", name)
    errors = [finding.message for finding in (*([misnamed] if misnamed else []), *findings) if finding.is_error]
    missing = sorted({one_file.source for one_file in job.files} - set(contents or {}))
    errors += [f"contents has no text for file {source!r}" for source in missing]
    if run is None or errors:
        raise SpecError(f"job {name!r} cannot run: " + "; ".join(errors or ["its cluster does not have its pool"]))
    return run
