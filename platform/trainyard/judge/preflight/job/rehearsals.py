"""The cluster on which a job is rehearsed."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.names import UNKNOWN_CLUSTER, present
from trainyard.judge.preflight.subjects import NAMED, OneJob

REHEARSE = Rule(
    id="spec/rehearse",
    title="A job is rehearsed on a cluster without machines.",
    why="on machines the copy would train a second time, and take quota from others",
    fix="name a cluster with simulated, or remove rehearse",
    source="docs/rehearsal.md",
)


@NAMED.check()
def check(job: OneJob) -> Iterator[Finding]:
    """Yield a rehearsal on machines, on a cluster without a file, that of a step, and that of a rehearsal."""
    name, clusters = job.file.job.rehearse, job.specs.clusters
    if name is None:
        return
    cluster, own = clusters.get(name), clusters.get(job.file.job.cluster)
    if job.file.job.step:
        message = "rehearse has no effect on a job with after, which a pipeline starts; remove rehearse"
        yield REHEARSE.at(job.file.source, ("rehearse",), message)
    elif name not in (known := present("cluster", clusters, job.broken)):
        message = f"cluster {name!r} does not exist; {did_you_mean(name, known)}"
        yield UNKNOWN_CLUSTER.at(job.file.source, ("rehearse",), message)
    elif cluster is not None and cluster.simulated is None:
        others = [other for other in clusters if clusters[other].simulated is not None]
        near = did_you_mean(name, others) if others else "no cluster has simulated"
        message = f"rehearse is {name!r}, whose nodes are machines, so the copy would train; {near}"
        yield REHEARSE.at(job.file.source, ("rehearse",), message)
    elif own is not None and own.simulated is not None:
        message = (
            f"cluster {job.file.job.cluster!r} is a rehearsal itself, so a copy says nothing more; remove rehearse"
        )
        yield REHEARSE.at(job.file.source, ("rehearse",), message)
