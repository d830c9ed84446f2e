"""Whether the kubelets of a cluster's pools start, and take the daemons of their nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.starts import node
from trainyard.specs import Cluster
from trainyard.specs.models.pools import Kubelet
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


WORD = re.compile(r"[A-Za-z][A-Za-z-]*")

FEW = 3
"""Daemons that are named one by one."""


NARROW = {"max_pods": "maxPods", "reserved_cpus": "reservedSystemCPUs"}
"""Fields of the kubelet that leave too little for daemons, where they are written."""


FLAGS = {"reserved-cpus": "reservedSystemCPUs"}
"""Fields that the kubelet's messages call by the flag."""


def named_field(kubelet: Kubelet, message: str) -> Path:
    """Return the field of the cluster's file that a message of the kubelet names, nothing where it names none."""
    written = {type(kubelet).model_fields[name].alias or name for name in kubelet.model_fields_set}
    words = {FLAGS.get(word, word) for word in WORD.findall(message)}
    return tuple(sorted(written & words)[:1])


@CLUSTER.check(after=("inventory.check_shapes",))
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose kubelet does not start with its configuration, or does not take the daemons of its nodes."""
    for name, pool in cluster.pools.items():
        if not is_known_shape(pool.shape) or pool.kubelet is None:
            continue
        found = node(cluster, name)
        if isinstance(found, Invalid):
            message = f"the kubelet of pool {name!r} does not start ({found.stage}): {found.message}"
            yield CONFIGURATION.at(
                source, ("pools", name, "kubelet", *named_field(pool.kubelet, found.message)), message
            )
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
