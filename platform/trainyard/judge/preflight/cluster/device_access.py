"""Whether pods may open the GPUs of their nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

DEVICES = Rule(
    id="amd-device-group",
    title="A pool with AMD GPUs sets deviceAccess.",
    why="Debian and Ubuntu open /dev/kfd and /dev/dri to the group render only, so other users find no GPU",
    fix="set deviceAccess to the group numbers, to udev for a rule on the nodes, or to open if every user may",
    source="ROCm/k8s-device-plugin issue 39; containerd docs/cri/config.md device_ownership_from_security_context",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose GPUs' device files may be closed to every user but root."""
    for name, pool in cluster.pools.items():
        gpus = pool.node.gpus if is_known_shape(pool.shape) else None
        if gpus is not None and gpus.vendor == "amd" and pool.device_access is None:
            path: Path = ("pools", name)
            message = f"pool {name!r} has AMD GPUs, but no deviceAccess; set it to groups, udev or open"
            yield DEVICES.at(source, path, message, key=True)
