"""Whether plain objects of a cluster are in one of its folders alone."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.system.repository import JOBS
from trainyard.judge.preflight.between.extra_objects import elsewhere
from trainyard.judge.preflight.declared import ALL
from trainyard.judge.preflight.subjects import CLUSTER_BESIDE, OneCluster
from trainyard.render import clusters


@CLUSTER_BESIDE.check(after=(ALL,))
def check(one: OneCluster) -> Iterator[Finding]:
    """Yield plain objects of a cluster without errors that Trainyard has in another of its folders."""
    specs, cluster = one.loaded.specs, one.name
    if any(finding.is_error for finding in one.loaded.findings if not finding.location.file.startswith(f"{JOBS}/")):
        return  # the platform's files cannot be rendered
    own = clusters.of_files(specs, cluster)
    if own:
        yield from (finding for _, finding in elsewhere(clusters.folders(specs, cluster, own=own), own))
