"""Elastic Fabric Adapter of Amazon: whole devices of the node's, which libfabric drives; no second interface.

Pods keep their address on the cluster network for rendezvous. The plugin aws-ofi-nccl, from the image, knows the
platform and sets what it needs itself: only what depends on the cluster is said here, and that NCCL must use it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from trainyard.render.sizing.base import Attached, Sized
from trainyard.render.sizing.fabrics.base import FabricType, Share
from trainyard.render.sizing.node import MI, binary, huge_pages, size
from trainyard.specs import Cluster
from trainyard.upstream.pods.resources import HUGE_PAGES

DEVICE = "vpc.amazonaws.com/efa"
"""What the EFA device plugin advertises (aws/eks-charts, aws-efa-k8s-device-plugin)."""

PAGES = f"{HUGE_PAGES}2Mi"

WANTED = 5120 * MI
"""Bytes of huge pages for the pod of a whole node (Amazon EKS user guide, machine learning training with EFA)."""


class Efa(FabricType):
    """Whole EFA devices, as many as the pod's share of the GPUs."""

    name = "efa"
    locks_memory = True
    of_a_cloud = True

    def reaches(self, cluster: Cluster, pool_name: str) -> bool:
        """Whether nodes of the pool have EFA devices, and the fabric is said to be theirs."""
        named = cluster.fabric.pools if cluster.fabric else ()
        has = DEVICE in cluster.pools[pool_name].node.devices
        return has and (not named or pool_name in named)

    def per_node(self, cluster: Cluster, pool_name: str) -> Mapping[str, Fraction]:
        """Return the devices, and the memory in huge pages that the node sets aside for them."""
        if not self.reaches(cluster, pool_name):
            return {}
        shape = cluster.pools[pool_name].node
        found, pages = {DEVICE: Fraction(shape.devices[DEVICE])}, huge_pages(shape)
        return {**found, PAGES: Fraction(pages[PAGES])} if PAGES in pages else found

    def attached(self, share: Share) -> Attached:
        """Return the pod's share of devices and huge pages; without any of these, libfabric must not look for them."""
        shape = share.cluster.pools[share.pool_name].node
        if DEVICE not in shape.devices:
            return Attached()
        part, why = part_of(share)
        count = math.ceil(shape.devices[DEVICE] * part)
        devices: dict[str, Sized[int] | Sized[str]] = {
            DEVICE: Sized(count, f"fabric: rdma; {count} = {shape.devices[DEVICE]} per node × {why}")
        }
        pages = shape.huge_pages.get("2Mi")
        if pages is None:
            none = Sized("0", "the node's image reserves no huge pages")
            return Attached(devices, env={**self.transport, "FI_EFA_USE_HUGE_PAGE": none})
        whole = min(WANTED, size(pages))
        amount = binary(whole * part, step=2 * MI)
        buffers = Sized(amount, f"{amount} = {binary(whole)} per node × {why}, for EFA's buffers")
        return Attached({**devices, PAGES: buffers}, env=self.transport)


def part_of(share: Share) -> tuple[Fraction, str]:
    """Return which part of a node's devices a pod gets, and in words why: that of its GPUs."""
    gpus = share.cluster.pools[share.pool_name].node.gpus
    if gpus is None or not share.gpus:
        return Fraction(1), "whole node"
    return min(Fraction(1), Fraction(share.gpus, gpus.count)), f"{share.gpus}/{gpus.count} GPUs"


FABRIC = Efa()
