"""What one cluster has for all teams: flavors, topology, cohorts, queues, priorities, storage, networks, policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.labels import NAMESPACE, OURS, PROTECTED, SYNC_WAVE, TEAM
from trainyard.render.clusters import buckets, burn_in, gke_networks, provisioning, snapshots, volcano
from trainyard.render.clusters.rehearsal import NOTHING_PROVISIONS
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.quota import amounts, covered_resources
from trainyard.render.tenancy import policies as tenants
from trainyard.specs import Cluster, Pool, Queue, Quota, Repository
from trainyard.specs.drivers import secret_parameters
from trainyard.specs.models.queues import Cohort
from trainyard.specs.models.storage import Export, Storage

KUEUE = "kueue.x-k8s.io/v1beta2"

TOPOLOGY = "default"
"""Name of the one Topology: all pools have the same levels."""

WAVES = {"topology": "-2", "flavors": "-1"}
"""Topology before flavors before queues: a queue whose flavor is missing admits nothing until the flavor is there."""

POLICY = "admissionregistration.k8s.io/v1"
ACTIONS = {"error": ["Deny"], "warning": ["Warn", "Audit"]}
"""What a cluster does where a policy of ours finds an error or a warning."""


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield everything of `platform/` but the policies."""
    yield from queueing_objects(cluster)
    yield from priorities(cluster)
    yield from storage(cluster)
    yield from buckets.volumes(cluster)
    yield from snapshots.resources(cluster)
    yield from gke_networks.resources(cluster)
    yield from burn_in.resources(cluster)


def priorities(cluster: Cluster) -> Iterator[Resource]:
    """Yield the cluster's priorities, which order jobs in its queues; Volcano reads those of Kubernetes."""
    yield from volcano.priorities(cluster)
    if cluster.queues and not cluster.queues_of("kueue"):
        return
    for name, value in cluster.priorities.items():
        fields = {"value": value, "description": f"Order in the queues of this cluster: {name}"}
        yield Resource(KUEUE, "WorkloadPriorityClass", name, ("priorities", name), fields=fields)


def queueing_objects(cluster: Cluster) -> Iterator[Resource]:
    """Yield flavors, their topology, cohorts and queues; nothing of Kueue's on a cluster without queues of its."""
    yield from volcano.resources(cluster)
    if not cluster.queues_of("kueue"):
        return
    if cluster.topology:
        levels = [{"nodeLabel": label} for label in cluster.levels.values()]
        fields: dict[str, Any] = {"spec": {"levels": levels}}
        yield Resource(
            KUEUE, "Topology", TOPOLOGY, ("topology",), annotations={SYNC_WAVE: WAVES["topology"]}, fields=fields
        )
    apart = {pool for queue in cluster.queues_of("volcano").values() for pool in queue.nominal_quota}
    for name, pool in ((name, pool) for name, pool in cluster.pools.items() if name not in apart):
        spec = flavor(cluster, name, pool)
        yield Resource(
            KUEUE,
            "ResourceFlavor",
            name,
            ("pools", name),
            annotations={SYNC_WAVE: WAVES["flavors"]},
            fields={"spec": spec},
        )
    yield from provisioning.resources(cluster)
    for cohort in cohorts(cluster):
        own = cluster.cohorts.get(cohort, Cohort())
        at: Path = ("cohorts", cohort) if cohort in cluster.cohorts else ("queues",)
        yield Resource(KUEUE, "Cohort", cohort, at, fields={"spec": cohort_spec(cluster, own)})
    for name, queue in cluster.queues_of("kueue").items():
        yield Resource(KUEUE, "ClusterQueue", name, ("queues", name), fields={"spec": queue_spec(cluster, queue)})


def flavor(cluster: Cluster, name: str, pool: Pool) -> dict[str, Any]:
    """Return a flavor: the labels of the pool's nodes, which every run of the pool selects too, and past its taints."""
    return {
        "nodeLabels": cluster.selector_of(name),
        "tolerations": pool.tolerations() or None,
        "topologyName": TOPOLOGY if cluster.levels_of(name) else None,
    }


def cohorts(cluster: Cluster) -> list[str]:
    """Return every cohort that is declared or named, sorted: each gets an object, so that no typo makes one."""
    named = {queue.cohort for queue in cluster.queues.values()} | {cohort.parent for cohort in cluster.cohorts.values()}
    return sorted({name for name in named if name} | set(cluster.cohorts))


def cohort_spec(cluster: Cluster, cohort: Cohort) -> dict[str, Any]:
    """Return a cohort: its parent and quota of its own, which all its members may use."""
    return {
        "parentName": cohort.parent,
        "resourceGroups": groups(cluster, cohort.nominal_quota, {}, {}) or None,
        "fairSharing": {"weight": cohort.fair_weight} if cohort.fair_weight else None,
    }


def queue_spec(cluster: Cluster, queue: Queue) -> dict[str, Any]:
    """Return a ClusterQueue: the namespaces it serves, by a label that nobody can write, and its quota."""
    names = {"key": NAMESPACE, "operator": "In", "values": list(cluster.namespaces(queue.teams))}
    return {
        "cohortName": queue.cohort,
        "namespaceSelector": {"matchExpressions": [names]},
        "queueingStrategy": queue.queueing_strategy,
        "stopPolicy": queue.stop_policy,
        "preemption": preemption(queue),
        "admissionChecksStrategy": provisioning.strategy(cluster, queue),
        "flavorFungibility": dict(queue.flavor_fungibility) or None,
        "fairSharing": {"weight": queue.fair_weight} if queue.fair_weight else None,
        "resourceGroups": groups(cluster, queue.nominal_quota, queue.borrowing_limit, queue.lending_limit),
    }


def preemption(queue: Queue) -> dict[str, Any]:
    """Return the preemption of a ClusterQueue with all its fields."""
    stated = queue.preemption
    return {
        "reclaimWithinCohort": stated.reclaim_within_cohort,
        "withinClusterQueue": stated.within_cluster_queue,
        "borrowWithinCohort": dict(stated.borrow_within_cohort) if stated.borrow_within_cohort else None,
    }


def groups(
    cluster: Cluster, nominal: Mapping[str, Quota], borrowing: Mapping[str, Quota], lending: Mapping[str, Quota]
) -> list[dict[str, Any]]:
    """Return one resource group with a flavor for each pool, so that all of a pod comes from one pool.

    Every flavor lists the same resources in the same order, zero of those that its nodes lack (kueue v0.19.2
    apis/kueue/v1beta2/clusterqueue_types.go).
    """
    if not nominal:
        return []
    names = covered_resources(cluster, nominal)
    limits = {"nominalQuota": nominal, "borrowingLimit": borrowing, "lendingLimit": lending}
    flavors: list[dict[str, Any]] = []
    for pool in nominal:
        found = {field: amounts(cluster, pool, quotas[pool]) for field, quotas in limits.items() if pool in quotas}
        shares = [{"name": name} | {field: quota.get(name, "0") for field, quota in found.items()} for name in names]
        flavors.append({"name": pool, "resources": shares})
    return [{"coveredResources": list(names), "flavors": flavors}]


def storage(cluster: Cluster) -> Iterator[Resource]:
    """Yield the storage classes that are ours to make; a volume outlives its claim, unless it is scratch."""
    for name, choice in cluster.storage.items():
        yield from exports(cluster, name, choice)
        if choice.existing or choice.exports:
            continue
        reclaim = reclaim_policy(cluster, name)
        if cluster.simulated is not None:
            idle = {"provisioner": NOTHING_PROVISIONS, "reclaimPolicy": reclaim, "volumeBindingMode": choice.binding}
            yield Resource("storage.k8s.io/v1", "StorageClass", name, ("storage", name), fields=idle)
            continue
        fields = {
            "provisioner": choice.provisioner,
            "parameters": parameters(choice, kept=reclaim == "Retain") or None,
            "mountOptions": list(choice.mount_options) or None,
            "reclaimPolicy": reclaim,
            "volumeBindingMode": choice.binding,
            "allowVolumeExpansion": expands(choice),
        }
        yield Resource("storage.k8s.io/v1", "StorageClass", name, ("storage", name), fields=fields)


def reclaim_policy(cluster: Cluster, name: str) -> str:
    """Return the reclaim policy of a class of ours: as it says, else Retain, or Delete for scratch on local disks."""
    scratch = {pool.local_disks.storage for pool in cluster.pools.values() if pool.local_disks}
    return cluster.storage[name].reclaim or ("Delete" if name in scratch else "Retain")


def exports(cluster: Cluster, name: str, choice: Storage) -> Iterator[Resource]:
    """Yield a PersistentVolume for each export: for one claim alone, and kept whatever becomes of the claim."""
    secret = choice.secret
    stages = choice.driver.secrets if choice.driver else ()
    for key, export in choice.exports.items():
        refs = {
            f"{camel}SecretRef": {"name": secret.name, "namespace": secret.namespace}
            for stage, camel in SECRET_REFS.items()
            if secret is not None and stage in stages
        }
        source = {"driver": choice.provisioner, "volumeHandle": export.handle, "readOnly": export.read_only or None}
        spec = {
            "capacity": {"storage": export.size},
            "accessModes": ["ReadOnlyMany" if export.read_only else choice.access],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            "volumeMode": "Filesystem",
            "mountOptions": list(choice.mount_options) or None,
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": cluster.namespace_of(export.team),
                "name": export.volume or key,
            },
            "csi": {key: value for key, value in source.items() if value} | refs | attributes(export),
        }
        at = ("storage", name, "exports", key)
        fields = {"spec": {key: value for key, value in spec.items() if value is not None}}
        yield Resource(
            "v1", "PersistentVolume", choice.persistent_volume(key), at, annotations=PROTECTED, fields=fields
        )


SECRET_REFS = {"controller-publish": "controllerPublish", "node-stage": "nodeStage", "node-publish": "nodePublish"}
"""Calls of a driver that take a Secret for a volume that exists, by the field that names it."""


def attributes(export: Export) -> dict[str, Any]:
    """Return the attributes by which the driver finds a volume."""
    return {"volumeAttributes": dict(sorted(export.attributes.items()))} if export.attributes else {}


def expands(choice: Storage) -> bool:
    """Say whether volumes of a class of ours may grow: as it says, else as its driver does."""
    if choice.allow_volume_expansion is not None:
        return choice.allow_volume_expansion
    return choice.driver.grows if choice.driver else True


def parameters(choice: Storage, *, kept: bool) -> dict[str, str]:
    """Return a class's parameters: what keeps data with their volume, the driver's Secret, and what the class says."""
    if choice.driver is None:
        return dict(choice.parameters)
    data = choice.driver.retain if kept else {}
    named = (choice.secret.name, choice.secret.namespace) if choice.secret else ()
    pairs = [zip(secret_parameters(stage), named, strict=True) for stage in choice.driver.secrets if named]
    secrets = {key: value for pair in pairs for key, value in pair}
    return dict(sorted({**data, **secrets, **choice.parameters}.items()))


def policies(repository: Repository, documents: Sequence[Mapping[str, Any]]) -> Iterator[Resource]:
    """Yield the policies in CEL as they stand, each with a binding to the namespaces of teams.

    A policy that the repository switches off is not shipped.
    """
    for document in documents:
        metadata = document.get("metadata") or {}
        name = str(metadata.get("name"))
        if name in repository.policies:
            continue
        notes = dict(metadata.get("annotations") or {})
        severity = str(notes.get(f"{OURS}/severity", "error"))
        spec = {
            "policyName": name,
            "validationActions": ACTIONS.get(severity, ["Deny"]),
            "matchResources": {"namespaceSelector": {"matchExpressions": [{"key": TEAM, "operator": "Exists"}]}},
        }
        fields = {"spec": document.get("spec")}
        yield Resource(
            POLICY, "ValidatingAdmissionPolicy", name, (), annotations=notes, fields=fields, source="repository"
        )
        kind = "ValidatingAdmissionPolicyBinding"
        yield Resource(POLICY, kind, name, (), fields={"spec": spec}, source="repository")


def tenancy(name: str, cluster: Cluster) -> Iterator[Resource]:
    """Yield the policies that hold what runs of teams may be, with their bindings; none where there are no teams."""
    if not cluster.teams():
        return
    for policy, spec in tenants.policies(name, cluster):
        notes = {f"{OURS}/source": "docs/decisions/tenancy.md", f"{OURS}/waivable": "false"}
        yield Resource(POLICY, "ValidatingAdmissionPolicy", policy, (), annotations=notes, fields={"spec": spec})
        fields = {"spec": tenants.binding(policy, cluster)}
        yield Resource(POLICY, "ValidatingAdmissionPolicyBinding", policy, (), fields=fields)
