"""Jobs that come after one another, as pipelines of Kubeflow Pipelines: a step starts a run and waits for it."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.errors import SpecError
from trainyard.findings import did_you_mean
from trainyard.kinds import Resolved
from trainyard.specs.order import JobName, after_of, ordered

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
            raise SpecError(f"job {spelled!r} cannot run; {did_you_mean(spelled, ['/'.join(each) for each in known])}")
        if name not in steps:
            raise SpecError(f"job {spelled!r} is no step, since Argo CD starts it; write after: [] into it")
    before = {name: after_of(run.run.team_name, run.run.job) for name, run in steps.items()}
    found = [steps[name] for name in ordered(names, before) if name in steps]
    clusters = sorted({run.run.cluster_name for run in found})
    if len(clusters) > 1:
        raise SpecError(f"the jobs run on clusters {', '.join(clusters)}, but a pipeline is of one; export them apart")
    return found
