"""How Kueue asks for the nodes of a job before the job starts: an admission check for each pool that scales so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.gpus import offers
from trainyard.specs import Cluster, Queue

KUEUE = "kueue.x-k8s.io/v1beta2"

CONTROLLER = "kueue.x-k8s.io/provisioning-request"
"""Who answers the check (kueue v0.19.2 apis/kueue/v1beta2/provisioningrequestconfig_types.go)."""

KINDS = ("kueue.x-k8s.io/AdmissionCheck", "kueue.x-k8s.io/ProvisioningRequestConfig")
"""Cluster-scoped kinds, as `group/Kind`."""

FOR_EVER = 2**31 - 1
"""Attempts after which Kueue sets a workload aside; nothing in Git would bring it back."""


def provisioned(cluster: Cluster) -> list[str]:
    """Return the pools whose nodes Kueue asks for."""
    return [name for name, pool in cluster.pools.items() if pool.provisioning is not None]


def kinds(cluster: Cluster) -> tuple[str, ...]:
    """Return the kinds that the cluster has for it."""
    return KINDS if provisioned(cluster) and cluster.queues_of("kueue") else ()


def check_name(pool: str) -> str:
    """Return the name of a pool's admission check."""
    return f"nodes-of-{pool}"


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield the check and its configuration for every pool whose nodes Kueue asks for.

    Each attempt that fails gives the quota back and waits, a minute at first and half an hour at most.
    """
    for name in provisioned(cluster):
        pool, at, check = cluster.pools[name], ("pools", name, "scaling", "provisioning"), check_name(name)
        config = {
            "provisioningClassName": pool.provisioning,
            "managedResources": sorted({offer.resource for offer in offers(pool)}) or None,
            "podSetMergePolicy": "IdenticalWorkloadSchedulingRequirements",
            "retryStrategy": {"backoffLimitCount": FOR_EVER, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800},
        }
        yield Resource(KUEUE, "ProvisioningRequestConfig", check, at, fields={"spec": config})
        parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": check}
        spec = {"controllerName": CONTROLLER, "parameters": parameters}
        yield Resource(KUEUE, "AdmissionCheck", check, at, fields={"spec": spec})


def strategy(cluster: Cluster, queue: Queue) -> dict[str, Any] | None:
    """Return the checks of a queue, each for jobs on its own flavor alone; None where it has none."""
    checked = [name for name in provisioned(cluster) if name in queue.nominal_quota]
    if not checked:
        return None
    return {"admissionChecks": [{"name": check_name(name), "onFlavors": [name]} for name in checked]}
