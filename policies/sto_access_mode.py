"""A claim must ask its storage class for an access mode that the class's driver has.

Why: Otherwise the driver refuses to make the volume: the claim stays Pending, and so do the pods that mount it.
Fix: use the class of a shared file system, or ReadWriteOnce for pods that share one node.
Source: platform/trainyard/specs/drivers; kubernetes v1.35 content/en/docs/concepts/storage/persistent-volumes.md
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World, access_modes

MANY = "ReadWriteMany"
GROUP = "storage.k8s.io"


def check(world: World) -> Iterator[Problem]:
    """Look up the class of each claim of a file system that many nodes write to; a block device may be shared."""
    classes = {storage.name: storage for storage in world.of("StorageClass", group=GROUP)}
    for claim in world.of("PersistentVolumeClaim", group=""):
        storage = classes.get(claim.text("spec", "storageClassName"))
        if storage is None or claim.text("spec", "volumeName") or claim.text("spec", "volumeMode") == "Block":
            continue
        known = access_modes(storage)
        if known is None or MANY in known[1]:
            continue
        for path, mode in claim.at("spec", "accessModes", "*", of=str):
            if mode == MANY:
                message = (
                    f"{MANY} is not offered by {known[0]}, the driver of StorageClass {storage.name!r}"
                    "; use the class of a shared file system"
                )
                yield Problem(Place(claim, path), message)
