"""Virtual clusters: an API server of its own for a team that needs its own definitions, beside training."""

from __future__ import annotations

from typing import Annotated

from pydantic import StrictStr

from trainyard.specs.models.base import Amount, Count, Form, Name, Room, Spec

VirtualClusterName = Annotated[
    StrictStr, Form("[a-z]([-a-z0-9]*[a-z0-9])?", "lower-case letters, digits and inner '-', a letter first", 30)
]
"""Name of a Helm release, with room for what the chart and Argo CD put before and behind it."""

Minor = Annotated[StrictStr, Form(r"1\.[0-9]{2}", 'a minor version of Kubernetes as text, such as "1.35"', 4)]


class VirtualCluster(Spec):
    """A virtual cluster by vCluster; the namespace `vc-<name>` has its control plane and all its pods."""

    team: Name
    """Team whose people are its administrators."""
    pool: Name
    """Pool of all its pods, the control plane's too; quotas of the pool must leave room for them."""
    gpus: Amount = 0
    """GPUs that its pods may have together, as whole ones."""
    cpus: Count
    """CPUs that its pods may request together; control plane and DNS take 520m of them."""
    memory: Room
    """Limits of memory that its pods may have together; control plane and DNS take 4266Mi of it."""
    pods: Count = 50
    """Pods that it may have at once, the control plane's and those of DNS included."""
    storage: Name
    """Storage class of its state and of its claims; its state is a database in a file, which needs a disk."""
    size: Room = "10Gi"
    """Bytes of the volume with its state."""
    claims: Room = "0"
    """Bytes of all other claims together; default: none."""
    kubernetes: Minor | None = None
    """Minor version of its API server; default: the cluster's."""
