"""A team's claims on buckets of Ceph, and the way to them; neither Argo CD nor Rook deletes a bucket.

A claim that was deleted and is made again gets the bucket of its name back, with other keys
(rook/rook v1.20.6 pkg/operator/ceph/object/bucket/provisioner.go Provision).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import NAMESPACE, PROTECTED
from trainyard.render.parts.ceph_buckets import LISTENING, bucket_name, claim_name, class_name, of_team, space
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster

KIND = "objectbucket.io/ObjectBucketClaim"


def claims(cluster: Cluster, team: str) -> Iterator[Resource]:
    """Yield the claims of a team: Rook puts address and keys of each bucket into its namespace."""
    if cluster.simulated is not None:
        return
    for name, (store, bucket) in of_team(cluster, team).items():
        spec = {
            "bucketName": bucket_name(team, name),
            "storageClassName": class_name(store),
            "additionalConfig": {"maxSize": bucket.size},
        }
        at, api = ("ceph", "objectStores", store, "buckets", name), "objectbucket.io/v1alpha1"
        kind, called = KIND.rpartition("/")[2], claim_name(store, name)
        yield Resource(api, kind, called, at, team, annotations=PROTECTED, fields={"spec": spec})


def kinds(cluster: Cluster) -> frozenset[str]:
    """Return the kinds of these claims on a cluster, as `group/Kind`."""
    return frozenset({KIND} if cluster.ceph is not None and any(cluster.ceph.buckets()) else ())


def egress(cluster: Cluster, team: str) -> Iterator[dict[str, Any]]:
    """Yield the way from a team's pods to the object stores that have its buckets."""
    stores = sorted({store for store, _ in of_team(cluster, team).values()})
    if stores:
        pods = {
            "matchLabels": {"app": "rook-ceph-rgw"},
            "matchExpressions": [{"key": "rook_object_store", "operator": "In", "values": stores}],
        }
        there = {"namespaceSelector": {"matchLabels": {NAMESPACE: space()}}, "podSelector": pods}
        yield {"to": [there], "ports": [{"port": LISTENING, "protocol": "TCP"}]}
