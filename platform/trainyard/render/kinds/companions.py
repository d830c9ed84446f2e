"""Objects beside the workload, whichever kind carries it: what makes its pods' claims, and binds them together."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.kinds.base import Resolved
from trainyard.render.kinds.objects import make_object
from trainyard.render.parts import gang
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing import nvlink
from trainyard.specs import Cluster

DOMAIN = "ComputeDomain"
GROUP = "resource.nvidia.com"
KINDS = frozenset({f"{GROUP}/{DOMAIN}", f"{gang.GROUP}/{gang.KIND}"})
"""Kinds of such objects, as `group/Kind`."""


def build(run: Resolved) -> Iterator[Resource]:
    """Yield the run's ComputeDomain where its pods share memory over NVLink, and the group that they are bound in.

    No number of nodes is said: the field is deprecated, and daemons wait for nobody (NVIDIA/k8s-dra-driver-gpu v0.4.0
    api/nvidia.com/resource/v1beta1/computedomain.go).
    """
    if any(nvlink.CLAIM in role.size.fabric.claims for role in run.roles):
        channel = {"allocationMode": "Single", "resourceClaimTemplate": {"name": nvlink.domain(run.run.name)}}
        yield make_object(run, f"{GROUP}/v1beta1", DOMAIN, at=("pool",), spec={"numNodes": 0, "channel": channel})
    together = run.kind.gang(run)
    if gang.is_coscheduled(run.run.cluster) and together:
        spec = {"minMember": sum(together.values()), "scheduleTimeoutSeconds": gang.PATIENCE}
        yield make_object(run, f"{gang.GROUP}/v1alpha1", gang.KIND, at=("nodes",), spec=spec)


def kinds(cluster: Cluster) -> frozenset[str]:
    """Return the kinds of such objects that runs on the cluster may have, as `group/Kind`."""
    spanning = any(nvlink.spans(cluster, pool) for pool in cluster.pools.values())
    found = {f"{GROUP}/{DOMAIN}": spanning, f"{gang.GROUP}/{gang.KIND}": gang.is_coscheduled(cluster)}
    return frozenset(kind for kind, there in found.items() if there)
