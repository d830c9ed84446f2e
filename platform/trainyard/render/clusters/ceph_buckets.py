"""A team's claims on buckets of Ceph, and the way to them; neither Argo CD nor Rook deletes a bucket.

A claim that was deleted and is made again gets the bucket of its name back, with other keys
(rook/rook v1.20.6 pkg/operator/ceph/object/bucket/provisioner.go Provision).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import NAMESPACE, PROTECTED
from trainyard.render.parts.ceph_buckets import (
    FILE,
    LISTENING,
    SECURE,
    authorities,
    authority_name,
    bucket_name,
    claim_name,
    class_name,
    of_team,
    space,
)
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster

KIND = "objectbucket.io/ObjectBucketClaim"


def claims(cluster: Cluster, team: str) -> Iterator[Resource]:
    """Yield a team's claims, of which Rook makes Secrets with keys, and the authorities that its clients trust."""
    if cluster.simulated is not None:
        return
    for name, (store, bucket) in of_team(cluster, team).items():
        spec = {
            "bucketName": bucket_name(team, name),
            "storageClassName": class_name(store),
            "additionalConfig": {"maxSize": bucket.size},
        }
        at, api = ("ceph", "objectStores", store, "buckets", name), "objectbucket.io/v1alpha1"
        place, kind, called = cluster.namespace_of(team), KIND.rpartition("/")[2], claim_name(store, name)
        yield Resource(api, kind, called, at, place, annotations=PROTECTED, fields={"spec": spec})
    for store, text in authorities(cluster, team).items():
        at, place = ("ceph", "objectStores", store, "tls", "authority"), cluster.namespace_of(team)
        yield Resource("v1", "ConfigMap", authority_name(store), at, place, fields={"data": {FILE: text}})


def kinds(cluster: Cluster) -> frozenset[str]:
    """Return the kinds of these objects on a cluster, as `group/Kind`."""
    if cluster.ceph is None or not any(cluster.ceph.buckets()):
        return frozenset()
    trusts = any(store.tls and store.buckets for store in cluster.ceph.object_stores.values())
    return frozenset({KIND, "/ConfigMap"} if trusts else {KIND})


def egress(cluster: Cluster, team: str) -> Iterator[dict[str, Any]]:
    """Yield the way from a team's pods to the object stores that have its buckets."""
    stores = sorted({store for store, _ in of_team(cluster, team).values()})
    if stores:
        pods = {
            "matchLabels": {"app": "rook-ceph-rgw"},
            "matchExpressions": [{"key": "rook_object_store", "operator": "In", "values": stores}],
        }
        there = {"namespaceSelector": {"matchLabels": {NAMESPACE: space()}}, "podSelector": pods}
        ports = (LISTENING, SECURE) if authorities(cluster, team) else (LISTENING,)
        yield {"to": [there], "ports": [{"port": port, "protocol": "TCP"} for port in ports]}
