"""Whether what init containers fetch into a volume of the job is there for its program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import JOB, OneJob

UNSEEN = Rule(
    id="run/volume-unseen",
    title="A volume of a job that an init container fills is mounted by what runs afterwards.",
    why="the program does not see the files: it stops, or trains without them",
    fix="add {volume: name, mountPath: …} to mounts",
    source="kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go Container.volumeMounts; docs/jobs.md",
    layer="run",
    severity=Severity.WARNING,
)


@JOB.check()
def check(one: OneJob) -> Iterator[Finding]:
    """Yield emptyDir volumes that only one init container mounts; a patch may mount them elsewhere."""
    job = one.file.job
    if any("volumeMounts" in str(patch.merge) for patch in job.patches):
        return
    later = {mount.volume for mount in job.mounts} | set(mounted(job.containers))
    first = list(mounted(job.init_containers))
    for index, volume in enumerate(job.volumes):
        name = volume.get("name")
        if "emptyDir" in volume and name not in later and first.count(str(name)) == 1:
            message = f"only an init container mounts volume {name!r}, so the program does not see it; add it to mounts"
            yield UNSEEN.at(one.file.source, ("volumes", index, "name"), message)


def mounted(containers: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the volumes that containers mount."""
    for container in containers:
        mounts = container.get("volumeMounts")
        yield from (
            (str(mount.get("name")) for mount in mounts if isinstance(mount, dict)) if isinstance(mounts, list) else ()
        )
