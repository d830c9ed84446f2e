"""What one team has on one cluster: its namespace, queues, rights, network, volumes and networks of the fabric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.base.labels import PROTECTED, TEAM
from trainyard.render.clusters import buckets, ceph_buckets, limits, nets, rehearsal, rights, snapshots
from trainyard.render.clusters.levels import pod_security
from trainyard.render.parts.objects import Resource
from trainyard.render.tenancy import allowance
from trainyard.specs import Cluster, Repository, Team
from trainyard.upstream.workloads.base import Object

PERMANENT = "trainyard-runs"
ABOUT = "Keeps this folder and its Application alive when no run is left, so that the last run can be retired.\n"


def resources(
    cluster_name: str,
    cluster: Cluster,
    name: str,
    team: Team,
    repository: Repository | None = None,
    own: Iterable[Object] = (),
) -> Iterator[Resource]:
    """Yield everything of `teams/<team>/` on the cluster; `own` are objects below `platform/extra` for the team."""
    yield from space(cluster_name, cluster, name, team, repository, own)
    yield from nets.attachments(cluster, name)
    claims = list(volumes(cluster_name, cluster, name, team))
    yield from claims
    yield from rehearsal.volumes(cluster, claims)
    yield from buckets.claims(cluster, name)
    yield from ceph_buckets.claims(cluster, name)
    yield from snapshots.rights(cluster, name)


def space(
    cluster_name: str,
    cluster: Cluster,
    name: str,
    team: Team,
    repository: Repository | None = None,
    own: Iterable[Object] = (),
) -> Iterator[Resource]:
    """Yield the team's namespace, its queues, the rights of its people, and who talks to its pods."""
    place = cluster.namespace_of(name)
    yield namespace(cluster_name, cluster, name, team, repository, own)
    yield affinity(cluster, name)
    yield from limits.resources(cluster, name, team)
    for queue, choice in cluster.queues_of("kueue").items():
        if name in choice.teams:
            fields = {"spec": {"clusterQueue": queue}}
            at = ("queues", queue, "teams")
            yield Resource("kueue.x-k8s.io/v1beta2", "LocalQueue", queue, at, place, fields=fields)
    yield from rights.resources(cluster, name, team)
    yield from nets.policies(cluster_name, cluster, name, team)


def namespace(
    cluster_name: str,
    cluster: Cluster,
    name: str,
    team: Team,
    repository: Repository | None = None,
    own: Iterable[Object] = (),
) -> Resource:
    """Return the team's namespace: its Pod Security level, pinned to the cluster's version, and under Kueue.

    What its runs may use stands there too, for the policies that hold it; without a repository any registry will do.
    """
    labels = pod_security(team.level_on(cluster_name), cluster) | {TEAM: name}
    known = repository or Repository(live=False, repo_url="https://example.com/none.git")
    notes = allowance.of(known, cluster_name, cluster, name, team, own).annotations() | PROTECTED
    place = cluster.namespace_of(name)
    return Resource("v1", "Namespace", place, (), labels=labels, annotations=notes, source=f"team/{name}")


def affinity(cluster: Cluster, name: str) -> Resource:
    """Return the quota of no pod that is placed by those of other namespaces."""
    place, fields = cluster.namespace_of(name), {"spec": limits.no_affinity()}
    return Resource("v1", "ResourceQuota", limits.NO_AFFINITY, (), place, fields=fields, source=f"team/{name}")


def volumes(cluster_name: str, cluster: Cluster, name: str, team: Team) -> Iterator[Resource]:
    """Yield the team's claims on the storage that the cluster has."""
    for volume, claim in team.volumes.items():
        storage = cluster.storage.get(claim.storage)
        if storage is None or (claim.clusters and cluster_name not in claim.clusters):
            continue
        export = storage.export_of(name, volume)
        spec: dict[str, Any] = {
            "accessModes": [storage.access],
            "storageClassName": claim.storage,
            "volumeMode": "Filesystem",
            "resources": {"requests": {"storage": claim.size}},
        }
        if export is not None:
            modes = ["ReadOnlyMany"] if storage.exports[export].read_only else [storage.access]
            spec |= {"accessModes": modes, "storageClassName": "", "volumeName": storage.persistent_volume(export)}
        elif claim.from_snapshot is not None:
            source = {"apiGroup": snapshots.GROUP, "kind": "VolumeSnapshot", "name": claim.from_snapshot}
            spec |= {"dataSource": source}
        at = ("volumes", volume)
        kind, place = "PersistentVolumeClaim", cluster.namespace_of(name)
        fields = {"spec": spec}
        yield Resource("v1", kind, volume, at, place, annotations=PROTECTED, fields=fields, source=f"team/{name}")


def permanent(cluster: Cluster, name: str) -> Resource:
    """Return the one object of `runs/<team>/` that never changes.

    An empty folder is gone from Git, and then its Application stops syncing: what ran last would train on.
    """
    fields = {"data": {"about": ABOUT}}
    place = cluster.namespace_of(name)
    return Resource("v1", "ConfigMap", PERMANENT, (), place, fields=fields, source=f"team/{name}")
