"""What the fabrics of Google Kubernetes Engine have in common: more interfaces, and libraries that lie on the node.

Pods get further interfaces by annotations that name the cluster's Network objects, which GKE's webhook turns into
resources after Kueue has counted. Libraries and their settings come from an installer on the node, so that the
environment is that of its release: a script there is read before the program starts.
Facts: GoogleCloudPlatform/container-engine-accelerators 2026-06 gpudirect-tcpx, gpudirect-tcpxo, gpudirect-rdma.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from trainyard.render.sizing.base import Attached, Sized
from trainyard.render.sizing.fabrics.base import FabricType, Share
from trainyard.specs import Cluster

LIBRARIES = "/usr/local/nvidia/lib64"
"""Where the program finds the libraries of driver and plugin."""

ON_NODE = "/home/kubernetes/bin/nvidia/lib64"
"""Where driver and plugin installers put them on Container-Optimized OS."""

ACCELERATOR = "cloud.google.com/gke-accelerator"
"""Label of nodes by the product of their GPUs, which GKE sets."""

DEFAULT = "networking.gke.io/default-interface"
INTERFACES = "networking.gke.io/interfaces"


class Gke(FabricType):
    """A fabric of whole nodes, whose pods need paths of the node and so a privileged namespace."""

    level = "privileged"
    whole_nodes = True
    named_networks = True
    of_a_cloud = True
    first: ClassVar[int] = 1
    """Number of the first further interface, as Google's examples have it."""
    accelerators: ClassVar[tuple[str, ...]]
    """Values of the accelerator label of the machines that have it (affinity of gpudirect-*/nccl-*-installer.yaml)."""
    device_mode: ClassVar[str] = "NetDevice"
    """How pods get the NICs of its networks (gke-networking-api apis/network/v1/gkenetworkparamset_types.go)."""
    spare_networks: ClassVar[int] = 0
    """Networks that its nodes have beside those for GPUs and the cluster's own."""

    def reaches(self, cluster: Cluster, pool_name: str) -> bool:
        """Whether nodes of the pool are on the fabric: those that it names, else those whose shape has NICs for it."""
        fabric = cluster.fabric
        named = fabric.pools if fabric else ()
        return pool_name in named if named else bool(cluster.pools[pool_name].node.nics)

    def per_node(self, _cluster: Cluster, _pool_name: str) -> Mapping[str, Fraction]:
        """Return nothing: the devices of networks are added at the pod's creation, after Kueue has counted."""
        return {}

    def annotations(self, cluster: Cluster) -> dict[str, str]:
        """Return the annotations that give the pod an interface for each of the cluster's networks."""
        names = cluster.fabric.networks if cluster.fabric else ()
        pairs = [("eth0", "default"), *((f"eth{self.first + index}", name) for index, name in enumerate(names))]
        listed = [{"interfaceName": interface, "network": network} for interface, network in pairs]
        return {DEFAULT: "eth0", INTERFACES: json.dumps(listed, separators=(",", ":"))}

    def interfaces(self, cluster: Cluster) -> str:
        """Return the further interfaces, as NCCL's plugins take them."""
        names = cluster.fabric.networks if cluster.fabric else ()
        return ",".join(f"eth{self.first + index}" for index in range(len(names)))

    def attached(self, share: Share) -> Attached:
        """Return interfaces and libraries; a subclass adds what its own transport needs."""
        return Attached(
            annotations=self.annotations(share.cluster),
            env={"LD_LIBRARY_PATH": Sized(LIBRARIES, "the node's driver and plugin, mounted at this path")},
            volumes=(host_path("fabric-libraries", ON_NODE),),
            mounts=({"name": "fabric-libraries", "mountPath": LIBRARIES, "readOnly": True},),
        )


def host_path(name: str, path: str) -> dict[str, Any]:
    """Return a volume that is a folder of the node."""
    return {"name": name, "hostPath": {"path": path, "type": "Directory"}}
