"""The claims that a job names in volumes of its own: they are its team's, or among the repository's plain objects."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import PLACED, OneJob
from trainyard.render.clusters import buckets
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.team import Team
from trainyard.specs.sources import JobFile, Specs
from trainyard.specs.tracked import on

UNKNOWN = Rule(
    id="spec/unknown-claim",
    title="The claims that a job's own volumes mount exist.",
    why="a pod whose PersistentVolumeClaim is missing stays pending for ever",
    fix="name a volume of platform/teams/<team>.yaml, or add the claim below platform/extra",
    source="docs/jobs.md",
    severity=Severity.WARNING,
)


@PLACED.check()
def check(job: OneJob, team: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield claims that nothing here makes; where a program adds objects, it may be that one."""
    specs, file = job.specs, job.file
    folders = {"platform", f"teams/{file.team}"}
    if any(program.folder in folders for program in on(specs.programs, file.job.cluster)):
        return
    known = claim_names(specs, file, team, cluster)
    for index, volume in enumerate(file.job.volumes):
        source = volume.get("persistentVolumeClaim")
        name = source.get("claimName") if isinstance(source, dict) else None
        if isinstance(name, str) and name not in known:
            message = f"claim {name!r} is not a volume of team {file.team!r} and not in platform/extra"
            message += f"; {did_you_mean(name, known)}" if known else ""
            yield UNKNOWN.at(file.source, ("volumes", index, "persistentVolumeClaim", "claimName"), message)


def claim_names(specs: Specs, file: JobFile, team: Team, cluster: Cluster) -> set[str]:
    """Return the claims of the team's namespace on the job's cluster."""
    name = file.job.cluster
    own = {
        volume
        for volume, claim in team.volumes.items()
        if claim.storage in cluster.storage and (not claim.clusters or name in claim.clusters)
    }
    own |= {claim.name for claim in buckets.claims(cluster, file.team)}
    for extra in on(specs.extra, name):
        value = extra.source.document.value if extra.source.document else None
        if not isinstance(value, dict) or value.get("kind") != "PersistentVolumeClaim":
            continue
        metadata = value.get("metadata")
        said = metadata if isinstance(metadata, dict) else {}
        if extra.folder == f"teams/{file.team}" or said.get("namespace") == cluster.namespace_of(file.team):
            own.add(str(said.get("name")))
    return own
