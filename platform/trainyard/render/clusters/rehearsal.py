"""A rehearsal cluster: volumes to which claims of teams are bound, although nothing makes or mounts any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster

NOTHING_PROVISIONS = "kubernetes.io/no-provisioner"
"""Provisioner of classes whose volumes are there beforehand (kubernetes.io docs, storage classes, local)."""


def volumes(cluster: Cluster, claims: Iterable[Resource]) -> Iterator[Resource]:
    """Yield a volume for each claim on a rehearsal cluster that names none, and nothing elsewhere.

    The scheduler places no pod whose claims are not bound.
    """
    if cluster.simulated is not None:
        yield from (volume(claim) for claim in claims if "volumeName" not in claim.fields["spec"])


def volume(claim: Resource) -> Resource:
    """Return a volume that is a claim's alone.

    Its path is on no node, so that a pod of a real node cannot write there.
    """
    spec = claim.fields["spec"]
    fields = {
        "capacity": dict(spec["resources"]["requests"]),
        "accessModes": spec["accessModes"],
        "storageClassName": spec["storageClassName"],
        "volumeMode": spec["volumeMode"],
        "persistentVolumeReclaimPolicy": "Retain",
        "claimRef": {"apiVersion": "v1", "kind": claim.kind, "namespace": claim.namespace, "name": claim.name},
        "hostPath": {"path": "/simulated", "type": "Directory"},
    }
    name = f"{claim.namespace}.{claim.name}"  # no namespace has a dot, so no other claim has this name
    return Resource("v1", "PersistentVolume", name, claim.at, fields={"spec": fields}, source=claim.source)
