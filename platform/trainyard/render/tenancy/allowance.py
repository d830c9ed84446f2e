"""What one team's runs may use on one cluster, as lists of texts: the parameters of the statement.

They follow from the team's file, the cluster's and the repository's, and stand as annotations on the team's namespace,
where policies read them: whoever writes runs cannot write there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from trainyard.base.labels import NETWORKS, OURS, ULIMITS
from trainyard.base.manifests import Identity, identity_of
from trainyard.base.system.once import once
from trainyard.render.kinds import Kind, available, companions
from trainyard.render.parts import buckets, ceph_buckets, gang, network
from trainyard.render.sizing import nvlink
from trainyard.render.sizing.base import Attached
from trainyard.render.sizing.fabrics import Share, fabric_type
from trainyard.render.tenancy import daemons, placing
from trainyard.specs import Cluster, Repository, Team
from trainyard.specs.accounts import accounts_on
from trainyard.specs.shapes import is_known_shape
from trainyard.upstream.workloads.base import Object
from trainyard.upstream.workloads.runtimes import may_name

GROUP = f"tenancy.{OURS}"
"""Group of the annotations of a team's namespace that say what its runs may use."""

SEPARATOR = ","
WHOLE = "\n---\n"
"""Between pairs whose values have commas and lines of their own."""

PAIRS = frozenset({"pairs", "commands", "daemonenv", "daemonprobes"})
"""Lists whose items are whole texts."""

RESTRICTED = ("NET_BIND_SERVICE",)
BASELINE = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP"),
    *("SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
)
"""Capabilities that a container may add at a level (pod-security-admission v0.35 policy/check_capabilities_*.go)."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a team's runs may use on a cluster, by name of the list."""

    team: str
    lists: Mapping[str, tuple[str, ...]]
    kinds: frozenset[str] = frozenset()
    """Objects that a run may be made of, as `group/Kind`."""
    place: str = ""
    """The team's namespace on the cluster; empty where it has the team's name."""

    @property
    def namespace(self) -> str:
        """The team's namespace on the cluster."""
        return self.place or self.team

    def annotations(self) -> dict[str, str]:
        """Return the lists as annotations of the team's namespace; an empty list is not there."""
        joined = {name: (WHOLE if name in PAIRS else SEPARATOR).join(items) for name, items in self.lists.items()}
        return {f"{GROUP}/{name}": text for name, text in joined.items() if text}


def trusted_by(cluster: Cluster, team: str) -> list[str]:
    """Return the ConfigMaps with the authorities of the object stores that have a team's buckets."""
    return [ceph_buckets.authority_name(store) for store in ceph_buckets.authorities(cluster, team)]


def of(
    repository: Repository, cluster_name: str, cluster: Cluster, name: str, team: Team, own: Iterable[Object] = ()
) -> Allowance:
    """Return the allowance of a team's runs on a cluster; `own` are the platform's objects below `platform/extra`."""
    kind, privileged = fabric_type(cluster), team.level_on(cluster_name) == "privileged"
    place = cluster.namespace_of(name)
    level = "baseline" if team.level_on(cluster_name) == "baseline" else "restricted"
    parts = attached_parts(cluster)
    reserved = sorted({str(sidecar["name"]) for part in parts for sidecar in part.sidecars})
    if not kind.serves(cluster, team.level_on(cluster_name)):
        parts = ()
    trusted = parts if privileged else ()
    sidecars = [sidecar for part in trusted for sidecar in part.sidecars]
    given = [identity_of(extra) for extra in own]
    volumes = [volume for part in trusted for volume in part.volumes]
    mounted = {str(mount["name"]) for part in parts for mount in part.mounts}
    lists: dict[str, Iterable[str]] = {
        "level": (level,),
        "host": ("yes",) if any(part.host for part in trusted) else (),
        "registries": (f"{registry.rstrip('/')}/" for registry in repository.registries),
        "keys": repository.labels,
        "queues": sorted(key for key, queue in cluster.queues.items() if name in queue.teams),
        "priorities": team.priorities or tuple(cluster.priorities),
        "accounts": sorted(accounts_on(cluster, name, team)),
        "secrets": sorted({*team.secrets, *ceph_buckets.claim_names(cluster, name)}),
        "configmaps": sorted({*team.config_maps, "kube-root-ca.crt", *trusted_by(cluster, name)}),
        "claims": sorted({*claims(cluster_name, cluster, team), *of_buckets(cluster, name)}),
        "scratch": sorted(
            {disks.storage for pool in cluster.pools.values() if (disks := pool.local_disks) and disks.storage}
        ),
        "schedulers": ("default-scheduler", *schedulers(cluster)),
        "grouped": sorted(f"{kind.group}/{kind.object_kind}" for kind in grouped(cluster)),
        "runtimeclasses": cluster.runtime_classes,
        "taints": sorted(
            {str(toleration["key"]) for pool in cluster.pools.values() for toleration in pool.tolerations()}
        ),
        **placing.lists(cluster, frozenset(gpu_pools(cluster))),
        "capabilities": BASELINE if level == "baseline" else RESTRICTED,
        "grace": (str(cluster.longest_grace_seconds),),
        "networks": sorted(
            {one_part for part in parts for one_part in part.annotations.get(NETWORKS, "").split(",") if one_part}
        ),
        "pairs": sorted({*pairs(parts), *limits(cluster), *mounting_pairs(cluster, name)}),
        "hostpaths": sorted({daemons.describe_volume(volume) for volume in volumes if "hostPath" in volume}),
        "runtimes": sorted(f"{identity.kind}/{identity.name}" for identity in given if may_name(identity, place)),
        "claimtemplates": sorted(identity.name for identity in given if is_template(identity, place)),
        "channels": (nvlink.domain(""),) if spans(cluster) else (),
        "attaching": sorted(attaching_annotations(cluster, parts)),
        "wholenodes": sorted(whole_gpus(cluster)) if parts else (),
        "rails": sorted(f"{network}={name}" for network, name in kind.network_devices(cluster).items()),
        **dict(daemons.lists(sidecars, volumes, mounted)),
        "daemons": reserved,
    }
    return Allowance(name, {key: tuple(items) for key, items in lists.items()}, made_kinds(cluster), place)


def claims(cluster_name: str, cluster: Cluster, team: Team) -> Iterator[str]:
    """Yield the team's claims that are on a cluster."""
    for name, volume in team.volumes.items():
        if volume.storage in cluster.storage and cluster_name in (volume.clusters or (cluster_name,)):
            yield name


def of_buckets(cluster: Cluster, team: str) -> Iterator[str]:
    """Yield the team's claims on buckets of a cluster."""
    store = cluster.object_storage
    for name, bucket in (store.of_team(team) if store else {}).items():
        if bucket.mount:
            yield buckets.claim(name)


def mounting_pairs(cluster: Cluster, team: str) -> Iterator[str]:
    """Yield the annotations by which GKE mounts buckets that the team may mount, as `key=value`."""
    store = cluster.object_storage
    if any(bucket.mount and bucket.scheme == "gs" for bucket in (store.of_team(team) if store else {}).values()):
        yield from (f"{key}={text}" for key, text in buckets.fuse_annotations().items())


def gpu_pools(cluster: Cluster) -> Iterator[str]:
    """Yield the pools on which a variable alone could show GPUs to a container: those of NVIDIA."""
    for name, pool in cluster.pools.items():
        gpus = pool.node.gpus if is_known_shape(pool.shape) else None
        if gpus is not None and gpus.vendor == "nvidia":
            yield name


def made_kinds(cluster: Cluster) -> frozenset[str]:
    """Return `group/Kind` of every object that runs on a cluster may be made of."""
    return frozenset({item for kind in available(cluster) for item in kind.objects} | companions.kinds(cluster))


@once
def attached_parts(cluster: Cluster) -> tuple[Attached, ...]:
    """Return the ways to attach pods to the cluster's fabric, whatever part of a node they have."""
    return tuple(ways(cluster))


def ways(cluster: Cluster) -> Iterator[Attached]:
    """Yield the same one by one."""
    kind = fabric_type(cluster)
    for name, pool in cluster.pools.items():
        if is_known_shape(pool.shape) and kind.usable(cluster) and kind.reaches(cluster, name):
            count = pool.node.gpus.count if pool.node.gpus else 0
            for gpus in (count,) if kind.serves_whole_nodes(cluster) else range(count + 1):
                yield kind.attached(Share(cluster, name, gpus, pods=2))


def pairs(parts: Iterable[Attached]) -> Iterator[str]:
    """Yield the annotations of the fabric whose values are whole, as `key=value`."""
    for part in parts:
        yield from (f"{key}={text}" for key, text in part.annotations.items() if key != NETWORKS)


def attaching_annotations(cluster: Cluster, parts: Iterable[Attached]) -> set[str]:
    """Return the annotations by which pods get all that a node has of the fabric, where it serves whole nodes."""
    if not fabric_type(cluster).serves_whole_nodes(cluster):
        return set()
    return {key for part in parts for key in part.annotations if key != NETWORKS}


def whole_gpus(cluster: Cluster) -> frozenset[str]:
    """Return the GPUs of each node of a fabric that serves whole nodes, as `resource=count`.

    Nothing where pods without GPUs may be on it: no device tells then who has a whole node.
    """
    kind = fabric_type(cluster)
    if not kind.usable(cluster) or not kind.serves_whole_nodes(cluster):
        return frozenset()
    pools = [pool for name, pool in cluster.pools.items() if is_known_shape(pool.shape) and kind.reaches(cluster, name)]
    gpus = [pool.node.gpus for pool in pools]
    return frozenset(f"{gpu.resource}={gpu.count}" for gpu in gpus if gpu) if all(gpus) else frozenset()


def limits(cluster: Cluster) -> Iterator[str]:
    """Yield the annotations by which nodes let training containers lock memory, where the cluster has them."""
    if cluster.fabric is not None and cluster.fabric.memlock == "nri":
        yield from (f"{ULIMITS}{kind.container}={network.UNLIMITED}" for kind in available(cluster))


def spans(cluster: Cluster) -> bool:
    """Whether runs on the cluster make channels of NVLink, which their pods claim."""
    return any(nvlink.spans(cluster, pool) for pool in cluster.pools.values())


def is_template(identity: Identity, namespace: str) -> bool:
    """Whether an object makes claims of devices for pods of a namespace."""
    of_group = (identity.group, identity.kind) == ("resource.k8s.io", "ResourceClaimTemplate")
    return of_group and identity.namespace in {"", namespace}


def grouped(cluster: Cluster) -> list[Kind]:
    """Return the kinds whose operator groups pods for queues of Volcano, which a field names and no label."""
    return [kind for kind in available(cluster) if kind.scheduler != kind.admitted_by(cluster)]


def schedulers(cluster: Cluster) -> tuple[str, ...]:
    """Return the schedulers that operators of the cluster bring beside Kubernetes' own, by their names in pods."""
    names = {"volcano": "volcano", gang.OPERATOR: gang.scheduler(cluster)}
    return tuple(name for operator, name in names.items() if operator in cluster.operators)
