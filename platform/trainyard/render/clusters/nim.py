"""Services of NVIDIA NIM: their namespaces, their models, and who may call them.

The operator's caching Jobs have no queue, and Kueue would hold them in a team's namespace; its pods name no seccomp
profile, which Pod Security *restricted* asks for. So services of a team have a namespace of their own, outside of
Kueue, and quotas of their pool leave them room. Facts: NVIDIA/k8s-nim-operator v3.1.2
internal/controller/nimcache_controller.go, manifests/deployment.yaml, api/apps/v1alpha1/nimservice_types.go.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.labels import HOSTNAME, NAMESPACE, PROTECTED
from trainyard.render.clusters import nets
from trainyard.render.clusters.levels import pod_security
from trainyard.render.parts.nim import OPERATOR, PORT, SERVED, namespace
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing import gpus
from trainyard.render.sizing.machines import available
from trainyard.render.sizing.node import GI
from trainyard.specs import Cluster, Pool
from trainyard.specs.models.nim import Nim, NimService
from trainyard.specs.models.storage import Storage

API = "apps.nvidia.com/v1alpha1"
ALL = "all"
"""What stands for every profile of a model (internal/controller/nimcache_controller.go AllProfiles)."""


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield the namespaces of teams with services, what bounds and guards them, and the services."""
    if cluster.nim is None:
        return
    for team in sorted({service.team for service in cluster.nim.services.values()}):
        labels = pod_security("baseline", cluster)
        yield Resource("v1", "Namespace", namespace(cluster, team), ("nim",), labels=labels, annotations=PROTECTED)
        yield quota(cluster, cluster.nim, team)
        yield from policies(cluster, team)
    for name, service in cluster.nim.services.items():
        yield cache(cluster, cluster.nim, name, service)
        yield serve(cluster, cluster.nim, name, service)
        yield callers(cluster, name, service)


def quota(cluster: Cluster, nim: Nim, team: str) -> Resource:
    """Return a ResourceQuota of the GPUs that the team's services have together: nobody scales them past the file."""
    found: Counter[str] = Counter()
    for service in nim.services.values():
        if service.team == team:
            found[gpu_resource(cluster.pools[service.pool])] += service.replicas * service.gpus_per_pod
    hard = {f"requests.{resource}": str(count) for resource, count in sorted(found.items())}
    return Resource("v1", "ResourceQuota", "gpus", ("nim",), namespace(cluster, team), fields={"spec": {"hard": hard}})


def policies(cluster: Cluster, team: str) -> Iterator[Resource]:
    """Yield the policy of all pods: nobody calls them, and they reach names and the world outside of the cluster."""
    to = [*nets.names(cluster), nets.world([*nets.own_ranges(cluster), nets.LINK_LOCAL])]
    spec = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "egress": to}
    yield Resource(
        "networking.k8s.io/v1", "NetworkPolicy", "models", ("nim",), namespace(cluster, team), fields={"spec": spec}
    )


def callers(cluster: Cluster, name: str, service: NimService) -> Resource:
    """Return who calls a service: pods of its team, of the namespaces that it lists, and the operator.

    The operator asks each service which models it has, and until it answers the service is not ready
    (NVIDIA/k8s-nim-operator v3.1.2 internal/controller/platform/standalone/nimservice.go updateModelStatus).
    """
    spaces = sorted({cluster.namespace_of(service.team), *service.clients})
    source = {"namespaceSelector": {"matchExpressions": [{"key": NAMESPACE, "operator": "In", "values": spaces}]}}
    peers = [source, *nets.operator_peers(cluster, OPERATOR)]
    rule = {"from": peers, "ports": [{"port": PORT, "protocol": "TCP"}]}
    spec = {"podSelector": {"matchLabels": {"app": name}}, "policyTypes": ["Ingress"], "ingress": [rule]}
    return service_object(cluster, "networking.k8s.io/v1", "NetworkPolicy", name, service, at(name, "clients"), spec)


def cache_name(name: str, service: NimService) -> str:
    """Return the name of a service's model: another one for another image, since the operator refuses a change."""
    parts = (service.image, service.storage, service.size, *service.profiles)
    return f"{name}-{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:8]}"


def cache(cluster: Cluster, nim: Nim, name: str, service: NimService) -> Resource:
    """Return the model of a service, which a Job of the operator downloads to a claim on a node of the pool."""
    storage = cluster.storage.get(service.storage, Storage(provisioner="none"))
    claim = {
        "create": True,
        "storageClass": service.storage,
        "size": service.size,
        "volumeAccessMode": storage.access,
    }
    source = {
        "modelPuller": service.image,
        "pullSecret": nim.pull_secret,
        "authSecret": nim.api_key,
        "model": {"profiles": list(service.profiles)},
    }
    spec = {"source": {"ngc": source}, "storage": {"pvc": claim}, **placed(cluster, service)}
    return service_object(cluster, API, "NIMCache", cache_name(name, service), service, at(name, "image"), spec)


def serve(cluster: Cluster, nim: Nim, name: str, service: NimService) -> Resource:
    """Return the service; its pods seek nodes that have some already, so that whole nodes stay free for training."""
    chosen = {"profile": service.profiles[0]} if len(service.profiles) == 1 and service.profiles != (ALL,) else {}
    repository, _, digest = service.image.partition("@sha256:")
    beside = {
        "topologyKey": HOSTNAME,
        "namespaceSelector": {},
        "labelSelector": {"matchLabels": SERVED},
    }
    affinity = {
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": beside}]}
    }
    spec = {
        "image": {
            "repository": f"{repository}@sha256",  # the operator puts a colon and the tag behind it
            "tag": digest,
            "pullPolicy": "IfNotPresent",
            "pullSecrets": [nim.pull_secret],
        },
        "authSecret": nim.api_key,
        "storage": {"nimCache": {"name": cache_name(name, service), **chosen}},
        "replicas": service.replicas,
        "resources": amounts(cluster.pools[service.pool], service),
        "expose": {"service": {"type": "ClusterIP", "port": PORT}},
        "affinity": affinity,
        **placed(cluster, service),
    }
    return service_object(cluster, API, "NIMService", name, service, at(name), spec)


def placed(cluster: Cluster, service: NimService) -> dict[str, Any]:
    """Return where its pods run: the Job that downloads, too, as its claim may be of one zone."""
    tolerations = cluster.pools[service.pool].tolerations()
    return {
        "nodeSelector": dict(cluster.selectors[service.pool]),
        **({"tolerations": tolerations} if tolerations else {}),
    }


def amounts(pool: Pool, service: NimService) -> dict[str, Any]:
    """Return requests and limits of a pod: its GPUs, and their share of a node's CPUs and memory for jobs."""
    node, gpu = available(pool), {gpu_resource(pool): service.gpus_per_pod}
    share = Fraction(service.gpus_per_pod, max(gpus.offered_gpus(pool), 1))
    memory = f"{max(1, math.floor(node.memory * share / GI))}Gi"
    cpus = max(1, math.floor(node.cpus * share))
    return {"requests": {"cpu": cpus, "memory": memory, **gpu}, "limits": {"memory": memory, **gpu}}


def gpu_resource(pool: Pool) -> str:
    """Return the resource of whole GPUs of a pool."""
    return next((offer.resource for offer in gpus.offers(pool) if offer.whole), "nvidia.com/gpu")


def at(name: str, *field: str) -> Path:
    """Return the place of a service in the cluster's file."""
    return ("nim", "services", name, *field)


def service_object(
    cluster: Cluster, api: str, kind: str, name: str, service: NimService, place: Path, spec: dict[str, Any]
) -> Resource:
    """Return an object of a service's namespace."""
    return Resource(api, kind, name, place, namespace(cluster, service.team), fields={"spec": spec})
