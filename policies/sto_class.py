"""A claim names a storage class that the cluster has.

Why: A claim without its class stays Pending, and so do the pods that mount it. Kueue admits their job all the same.
Fix: correct storageClassName, or add the class to storage of the cluster's file.
Source: kubernetes v1.35 pkg/controller/volume/persistentvolume/pv_controller.go provisionClaim, findBestMatchForClaim
"""

from collections.abc import Collection, Iterator

from trainyard.checks import RUN_LABEL, Place, Problem, Severity, World, did_you_mean

SEVERITY = Severity.WARNING

CLASS = "storageClassName"
OF_JOBSETS = ("spec", "volumeClaimPolicies", "*", "templates", "*", "spec")
OF_PODS = ("volumes", "*", "ephemeral", "volumeClaimTemplate", "spec")


def check(world: World) -> Iterator[Problem]:
    """Look at claims, and templates of claims, in namespaces that are described; rendered ones name their own class."""
    spaces = {one.name for one in world.of("Namespace", group="")} if world.inventory is not None else set()
    there = classes(world) if spaces else set()
    for place in class_names(world, spaces) if there else ():
        name = place.manifest.get(*place.path)
        if name and name not in there:
            yield Problem(place, f"StorageClass {name!r} does not exist on this cluster; {did_you_mean(name, there)}")


def classes(world: World) -> set[str]:
    """Return the names of classes; a volume binds to a claim of its own class without the object, too."""
    declared = set(world.inventory.storage) if world.inventory is not None else set()
    made = {storage.name for storage in world.of("StorageClass", group="storage.k8s.io")}
    volumes = (volume.text("spec", CLASS) for volume in world.of("PersistentVolume", group=""))
    return declared | made | {name for name in volumes if name}


def class_names(world: World, spaces: Collection[str]) -> Iterator[Place]:
    """Yield the places at which claims and their templates name a class."""
    for claim in world.of("PersistentVolumeClaim", group=""):
        if (claim.namespace or "default") in spaces:
            yield from (Place(claim, path) for path, _ in claim.at("spec", CLASS, of=str))
    for job in world.training_jobs():
        if job.namespace in spaces and RUN_LABEL not in job.manifest.outer.labels:
            yield from (Place(job.manifest, path) for path, _ in job.manifest.at(*OF_JOBSETS, CLASS, of=str))
            for pods in job.pod_sets():
                inside = pods.manifest.at(*pods.template, "spec", *OF_PODS, CLASS, of=str)
                yield from (Place(pods.manifest, path) for path, _ in inside)
