"""Jobs that come after one another, as pipelines of Kubeflow Pipelines: a step starts a run and waits for it."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.base.errors import SpecError
from trainyard.base.findings import did_you_mean
from trainyard.render.kinds import Resolved
from trainyard.specs.order import JobName, after_of, order_jobs

__all__ = ["chosen"]


def chosen(runs: Sequence[Resolved], names: Sequence[JobName]) -> list[Resolved]:
    """Return the runs of jobs and of all that they come after, in an order that they can have.

    Raises SpecError for a job that is no step, and for steps of several clusters.
    """
    known = {(run.run.team_name, run.run.job_name): run for run in runs}
    steps = {name: run for name, run in known.items() if run.run.job.step}
    for name in names:
        spelled = "/".join(name)
        if name not in known:
            raise SpecError(
                f"job {spelled!r} does not exist or has errors; {did_you_mean(spelled, map('/'.join, known))}"
            )
        if name not in steps:
            raise SpecError(f"job {spelled!r} cannot be a step, because Argo CD starts it; add after: [] to it")
    before = {name: after_of(run.run.team_name, run.run.job) for name, run in steps.items()}
    found = [steps[name] for name in order_jobs(names, before) if name in steps]
    clusters = sorted({run.run.cluster_name for run in found})
    if len(clusters) > 1:
        raise SpecError(
            f"the jobs run on clusters {', '.join(clusters)}, but a pipeline has one; export one per cluster"
        )
    return found
