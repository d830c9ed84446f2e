"""What a provider's webhook puts into pods of a run behind Kueue's back, and what it takes of their nodes.

Kueue counts the template that was sent; the scheduler and the kubelet count the pod with the container that was added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.specs.run import Run

SIDECAR = {"cpu": "2", "memory": "4Gi", "ephemeral-storage": "5Gi"}
"""CPUs, memory and local disk of the container by which GKE mounts buckets.

By default it has 250m and 256Mi, which starves a node with 8 GPUs (GKE, Cloud Storage FUSE CSI driver performance:
raise the sidecar's limits); the amounts here are assumed.
"""


def injected_containers(run: Run, *, trains: bool) -> tuple[Mapping[str, Any], ...]:
    """Return the containers that a webhook adds to pods of a role: those of GKE where a bucket is mounted."""
    store = run.cluster.object_storage
    if not trains or store is None:
        return ()
    mounted = (store.buckets.get(use.bucket) for use in run.job.buckets if use.mount_path is not None)
    if not any(bucket is not None and bucket.scheme == "gs" for bucket in mounted):
        return ()
    return ({"resources": {"limits": SIDECAR}},)
