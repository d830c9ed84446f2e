"""The claims that a job names in volumes of its own: they are its team's, or among the repository's plain objects."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.findings import Finding, Severity, did_you_mean
from trainyard.rules import Rule
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.team import Team
from trainyard.specs.sources import JobFile, Specs

UNKNOWN = Rule(
    id="spec/unknown-claim",
    title="The claims that a job's own volumes name are known.",
    why="pods whose claim is missing stay pending for ever",
    fix="name a volume of platform/teams/<team>.yaml, or add the claim below platform/extra",
    source="docs/jobs.md",
    severity=Severity.WARNING,
)


def check(specs: Specs, file: JobFile, team: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield claims that nothing here makes; where a program adds objects, it may be that one."""
    folders = {"platform", f"teams/{file.team}"}
    if any(each.cluster == file.job.cluster and each.folder in folders for each in specs.programs):
        return
    known = made(specs, file, team, cluster)
    for index, volume in enumerate(file.job.volumes):
        source = volume.get("persistentVolumeClaim")
        name = source.get("claimName") if isinstance(source, dict) else None
        if isinstance(name, str) and name not in known:
            message = f"claim {name!r} is neither of team {file.team!r} nor below platform/extra"
            message += f"; {did_you_mean(name, known)}" if known else ""
            yield UNKNOWN.at(file.source, ("volumes", index, "persistentVolumeClaim", "claimName"), message)


def made(specs: Specs, file: JobFile, team: Team, cluster: Cluster) -> set[str]:
    """Return the claims of the team's namespace on the job's cluster."""
    name = file.job.cluster
    own = {
        volume
        for volume, claim in team.volumes.items()
        if claim.storage in cluster.storage and (not claim.clusters or name in claim.clusters)
    }
    for extra in specs.extra:
        value = extra.source.document.value if extra.source.document else None
        if extra.cluster != name or not isinstance(value, dict) or value.get("kind") != "PersistentVolumeClaim":
            continue
        metadata = value.get("metadata")
        said = metadata if isinstance(metadata, dict) else {}
        if extra.folder == f"teams/{file.team}" or said.get("namespace") == file.team:
            own.add(str(said.get("name")))
    return own
