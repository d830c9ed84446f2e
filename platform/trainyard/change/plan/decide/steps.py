"""Steps of pipelines that a change brings and that never fit: trees have no runs of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from trainyard.base.findings import Finding
from trainyard.judge.admission.asks import ask, resolve_job
from trainyard.judge.admission.rules import findings
from trainyard.judge.admission.site import admits
from trainyard.judge.admission.verdicts import of_cluster, render_sites
from trainyard.specs.sources import Specs


def vain(specs: Specs, edited: Collection[str], standing: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings of `trainyard admit` on steps of edited files, each alone on its cluster."""
    steps = [job for job in specs.jobs if job.job.step and not job.job.retired and job.source.file in edited]
    names = dict.fromkeys(step.job.cluster for step in steps)
    for name, where in render_sites(
        specs, [one_name for one_name in names if one_name in specs.clusters and admits(specs.clusters[one_name])]
    ):
        mine = [ask(step, resolve_job(specs, step), {name: where}) for step in steps if step.job.cluster == name]
        yield from findings(of_cluster(where, mine, ()), standing)
