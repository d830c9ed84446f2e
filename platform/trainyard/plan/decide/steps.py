"""Steps of pipelines that a change brings and that never fit: trees have no runs of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from trainyard.admission.asks import ask, resolved
from trainyard.admission.rules import findings
from trainyard.admission.site import admits
from trainyard.admission.verdicts import made, of_cluster
from trainyard.findings import Finding
from trainyard.specs.sources import Specs


def vain(specs: Specs, edited: Collection[str], standing: Sequence[Finding]) -> Iterator[Finding]:
    """Yield what `trainyard admit` finds at the steps of edited files, each with its cluster to itself."""
    steps = [each for each in specs.jobs if each.job.step and not each.job.retired and each.source.file in edited]
    names = dict.fromkeys(each.job.cluster for each in steps)
    for name, where in made(specs, [each for each in names if each in specs.clusters and admits(specs.clusters[each])]):
        mine = [ask(each, resolved(specs, each), {name: where}) for each in steps if each.job.cluster == name]
        yield from findings(of_cluster(where, mine, ()), standing)
