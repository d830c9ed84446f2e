"""Whether pods may run as the user that they are to be, and may open the GPUs of their nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.documents import Path
from trainyard.findings import Finding
from trainyard.rules import Rule
from trainyard.specs import Cluster, Team
from trainyard.specs.shapes import known
from trainyard.specs.sources import JobFile, Source

ROOT = Rule(
    id="spec/root",
    title="A job that runs as root belongs to a team whose Pod Security level allows it there.",
    why="the level restricted refuses user 0, so no pod would come to be",
    fix="name another user, or give the team the level baseline on that cluster",
    source="kubernetes/pod-security-admission v0.35 policy/check_runAsUser.go",
)
DEVICES = Rule(
    id="amd-device-group",
    title="A pool with AMD GPUs says who may open them.",
    why="Debian and Ubuntu open /dev/kfd and /dev/dri to group render alone, so that other users find no device",
    fix="write deviceAccess: the numbers of the groups, udev for a rule on the nodes, or open where every user may",
    source="ROCm/k8s-device-plugin issue 39; containerd docs/cri/config.md device_ownership_from_security_context",
)


def check(file: JobFile, team: Team, source: Source) -> Iterator[Finding]:
    """Yield root where the team's namespace refuses it, at whoever says it; `source` is the team's file."""
    user, level = file.job.run_as_user, team.level_on(file.job.cluster)
    said = user if user is not None else team.run_as_user
    if said == 0 and level == "restricted":
        message = (
            f"runAsUser is 0, but team {file.team!r} is {level} on cluster {file.job.cluster!r}; name another user"
        )
        yield ROOT.at(source if user is None else file.source, ("runAsUser",), message)


def check_pools(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose GPUs' device files may be closed to every user but root."""
    for name, pool in cluster.pools.items():
        gpus = pool.node.gpus if known(pool.shape) else None
        if gpus is not None and gpus.vendor == "amd" and pool.device_access is None:
            path: Path = ("pools", name)
            message = f"pool {name!r} does not say who may open its AMD GPUs; write deviceAccess: groups, udev or open"
            yield DEVICES.at(source, path, message, key=True)
