"""Objects that the pods of a job name exist on the cluster that is described here, and the classes of its claims.

Why: Without its service account no pod is made, and without a claim, a ConfigMap or a network no container starts. A
 claim without its class stays Pending. Kueue admits the job all the same, and its GPUs wait with it.
Fix: correct the name, or add the object to platform/extra, or to the team's file.
Source: kubernetes v1.35 plugin/pkg/admission/serviceaccount/admission.go, pkg/kubelet/volumemanager; multus-cni v4.3.0
 pkg/k8sclient/k8sclient.go
"""

from collections.abc import Collection, Iterator

from trainyard.checks import (
    NETWORKS,
    RUN_LABEL,
    Manifest,
    Place,
    Pods,
    Problem,
    Severity,
    TrainingJob,
    World,
    did_you_mean,
    mapping,
)

SEVERITY = Severity.WARNING

OF_EVERY_NAMESPACE = {"ServiceAccount": {"default"}, "ConfigMap": {"kube-root-ca.crt"}}
"""Objects that controllers make in each namespace."""

CLASS = "storageClassName"
OF_JOBSETS = ("spec", "volumeClaimPolicies", "*", "templates", "*", "spec")
OF_PODS = ("volumes", "*", "ephemeral", "volumeClaimTemplate", "spec")

GROUPS = {"NetworkAttachmentDefinition": "k8s.cni.cncf.io"}


def check(world: World) -> Iterator[Problem]:
    """Look at jobs and claims of one's own in namespaces that are described; Secrets are made elsewhere."""
    spaces = {one.name for one in world.of("Namespace", group="")} if world.inventory is not None else set()
    yield from classless(world, spaces)
    for job in world.training_jobs():
        if job.namespace not in spaces or RUN_LABEL in {*job.manifest.labels, *job.manifest.outer.labels}:
            continue
        seen = set()
        for pods in job.pod_sets():
            for kind, name, place in references(pods):
                if (kind, name) not in seen and (problem := missing(world, job, kind, name, place)):
                    seen.add((kind, name))
                    yield problem


def references(pods: Pods) -> Iterator[tuple[str, str, Place]]:
    """Yield the kind and name of each object without which pods do not start, and where it is named."""
    account = pods.spec.get("serviceAccountName")
    if isinstance(account, str):
        yield "ServiceAccount", account, pods.place("spec", "serviceAccountName")
    volumes = pods.spec.get("volumes")
    for index, volume in enumerate(volumes if isinstance(volumes, list) else ()):
        claim, config = (mapping(mapping(volume).get(field)) for field in ("persistentVolumeClaim", "configMap"))
        if isinstance(name := claim.get("claimName"), str):
            yield (
                "PersistentVolumeClaim",
                name,
                pods.place("spec", "volumes", index, "persistentVolumeClaim", "claimName"),
            )
        if isinstance(name := config.get("name"), str) and config.get("optional") is not True:
            yield "ConfigMap", name, pods.place("spec", "volumes", index, "configMap", "name")
    for namespace, name in pods.networks():
        if namespace == (pods.manifest.namespace or "default"):
            yield "NetworkAttachmentDefinition", name, pods.place("metadata", "annotations", NETWORKS)


def classless(world: World, spaces: Collection[str]) -> Iterator[Problem]:
    """Yield the claims, and the templates of claims, whose storage class the cluster does not have."""
    there = {storage.name for storage in world.of("StorageClass", group="storage.k8s.io")}
    there |= set(world.inventory.storage) if world.inventory is not None else set()
    volumes = world.of("PersistentVolume", group="")
    there |= {name for volume in volumes if (name := volume.text("spec", CLASS))}  # which bind without the class, too
    claims = [
        claim for claim in world.of("PersistentVolumeClaim", group="") if (claim.namespace or "default") in spaces
    ]
    found = [Place(claim, path) for claim in claims for path, _ in claim.at("spec", CLASS, of=str)]
    for job in world.training_jobs() if spaces else ():
        if job.namespace in spaces and RUN_LABEL not in job.manifest.outer.labels:
            found += [Place(job.manifest, path) for path, _ in job.manifest.at(*OF_JOBSETS, CLASS, of=str)]
            for pods in job.pod_sets():
                inside = pods.manifest.at(*pods.template, "spec", *OF_PODS, CLASS, of=str)
                found += [Place(pods.manifest, path) for path, _ in inside]
    for place in found:
        name = place.manifest.get(*place.path)
        if there and name and name not in there:
            yield Problem(place, f"StorageClass {name!r} does not exist on this cluster; {did_you_mean(name, there)}")


def missing(world: World, job: TrainingJob, kind: str, name: str, place: Place) -> Problem | None:
    """Return the problem of an object that its namespace does not have."""
    there = {one.name for one in of_kind(world, kind, job.namespace)} | OF_EVERY_NAMESPACE.get(kind, set())
    if name in there:
        return None
    near = did_you_mean(name, there) if there else "there are none"
    return Problem(place, f"{kind} {name!r} does not exist in namespace {job.namespace!r}; {near}")


def of_kind(world: World, kind: str, namespace: str) -> Iterator[Manifest]:
    """Yield the objects of a kind in a namespace."""
    yield from world.of(kind, namespace=namespace, group=GROUPS.get(kind, ""))
