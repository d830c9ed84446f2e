"""Whether the kubelets of a cluster's pools start, and take the daemons of their nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.starts import node
from trainyard.specs import Cluster
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source
from trainyard.upstream.kubelet import Invalid

CM = "kubernetes v1.35 pkg/kubelet/cm"

CONFIGURATION = Rule(
    id="numa-kubelet-starts",
    title="The kubelet starts with the settings in the cluster's file.",
    why="the node never becomes Ready",
    fix="correct the pool's kubelet settings as the message says",
    source="kubernetes v1.35 pkg/kubelet/apis/config/validation/validation.go; cm/container_manager_linux.go",
    layer="node",
)


DAEMON = Rule(
    id="numa-daemon-starts",
    title="The kubelet admits the daemons of its pool's nodes.",
    why="a node without its daemons has no network, devices or labels",
    fix="lower the daemon's requests, or change the pool's kubelet settings",
    source=f"{CM}/topologymanager",
    layer="node",
)


FEW = 3
"""Daemons that are named one by one."""


NARROW = {"max_pods": "maxPods", "reserved_cpus": "reservedSystemCPUs"}
"""Fields of the kubelet that leave too little for daemons, where they are written."""


@CLUSTER.check(after=("inventory.check_shapes",))
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose kubelet does not start with its configuration, or does not take the daemons of its nodes."""
    for name, pool in cluster.pools.items():
        if not is_known_shape(pool.shape) or pool.kubelet is None:
            continue
        found = node(cluster, name)
        if isinstance(found, Invalid):
            message = f"the kubelet of pool {name!r} does not start ({found.stage}): {found.message}"
            yield CONFIGURATION.at(source, ("pools", name, "kubelet"), message)
            continue
        said = pool.kubelet.model_fields_set
        narrow = next((alias for field, alias in NARROW.items() if field in said), None)
        where: Path = ("pools", name, "kubelet", narrow) if narrow else ("pools", name, "kubelet")
        if len(found.refused) > FEW:
            first = ", ".join(found.refused[:FEW])
            count = len(found.refused)
            message = f"kubelets of pool {name!r} reject {count} daemons on an empty node: {first} and others"
            yield DAEMON.at(source, where, message)
            continue
        for daemon in found.refused:
            message = f"kubelets of pool {name!r} reject daemon {daemon!r} on an empty node"
            yield DAEMON.at(source, where, message)
