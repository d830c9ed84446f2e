"""What a provider's fabric asks of the jobs that train over it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.sizing import RoleSpec
from trainyard.render.sizing.fabrics import FabricType, fabric_type
from trainyard.render.sizing.roles import wants_rdma
from trainyard.specs.sources import Source

WHOLE = Rule(
    id="run/fabric-whole-nodes",
    title="Pods on a fabric that serves whole nodes use all GPUs of a node.",
    why="the fabric's daemon and settings expect every GPU and NIC of the machine",
    fix="use all GPUs of a node, or set fabric: tcp",
    source="GoogleCloudPlatform/container-engine-accelerators 2026-06 gpudirect-tcpxo/README.md",
    layer="run",
)


LEVEL = Rule(
    id="run/fabric-pod-security",
    title="A team's podSecurity admits the host paths that its fabric mounts.",
    why="Pod Security refuses such pods at creation, so the job never gets any",
    fix="raise the team's podSecurity on this cluster alone, or set fabric: tcp",
    source="kubernetes v1.35 staging/src/k8s.io/pod-security-admission/policy/check_hostPathVolumes.go",
    layer="run",
)


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield the findings on a job over the fabric that has a part of a node or a namespace too strict."""
    job, source, cluster = run.run.job, run.run.source, run.run.cluster
    kind = fabric_type(cluster)
    on = [role for role in run.specs if wants_rdma(job, role) and kind.reaches(cluster, role.pool_name)]
    if not on:
        return
    level = run.run.team.level_on(run.run.cluster_name)
    if not kind.serves(cluster, level):
        message = (
            f"fabric {kind.name!r} mounts host paths, but podSecurity of team {run.run.team_name!r} is {level} on "
            f"{run.run.cluster_name!r}; raise it there"
        )
        yield LEVEL.at(source, ("fabric",), message)
    for role in on if kind.serves_whole_nodes(cluster) else ():
        yield from check_whole(role, kind, source)


def check_whole(role: RoleSpec, kind: FabricType, source: Source) -> Iterator[Finding]:
    """Yield a role whose pods have a part of a node's GPUs."""
    gpus = role.pool.node.gpus
    if gpus is not None and role.gpus != gpus.count:
        message = f"gpusPerNode is {role.gpus}, but fabric {kind.name!r} serves whole nodes; use {gpus.count}"
        yield WHOLE.at(source, (*role.path, "gpusPerNode"), message)
