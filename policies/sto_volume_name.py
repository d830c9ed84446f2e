"""A claim that names its volume fits that volume.

Why: Kubernetes binds a claim to the named volume only if class, access modes, mode and size fit. Otherwise the claim
 stays Pending, and so do the pods that mount it.
Fix: write the volume's storageClassName, accessModes and size, or name another volume.
Source: kubernetes v1.35 pkg/controller/volume/persistentvolume/pv_controller.go checkVolumeSatisfyClaim
"""

from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Problem, Severity, World, amount_of

SIZE = ("spec", "resources", "requests", "storage")


def check(world: World) -> Iterator[Problem]:
    """Compare claims with the volumes that they name, where these are among the objects."""
    there = world.of("PersistentVolume", group="")
    names = [volume.name for volume in there]
    volumes = {volume.name: volume for volume in there if volume.name and names.count(volume.name) == 1}
    for claim in world.of("PersistentVolumeClaim", group=""):
        volume = volumes.get(claim.text("spec", "volumeName"))
        if volume is not None:
            yield from unfit(claim, volume)


def unfit(claim: Manifest, volume: Manifest) -> Iterator[Problem]:
    """Yield why a claim is never bound to its volume."""
    name = volume.name
    wanted, given = (found.get("spec", "storageClassName") for found in (claim, volume))
    if wanted is None:
        message = (
            f"the claim has no storageClassName, so the default class counts, but volume {name!r} has {given or ''!r}"
        )
        yield Problem(Place(claim, ("spec", "volumeName")), f"{message}; write it", severity=Severity.WARNING)
    elif wanted != (given or ""):
        message = f"storageClassName is {wanted!r}, but volume {name!r} has {given or ''!r}; write that"
        yield Problem(Place(claim, ("spec", "storageClassName")), message)
    size, capacity = claim.get(*SIZE), volume.get("spec", "capacity", "storage")
    asked, has = amount_of(size), amount_of(capacity)
    if asked is not None and has is not None and asked > has:
        message = f"the claim requests {size}, but volume {name!r} has {capacity}"
        yield Problem(Place(claim, SIZE), f"{message}; request no more")
    modes = {mode for _, mode in volume.at("spec", "accessModes", "*", of=str)}
    for path, mode in claim.at("spec", "accessModes", "*", of=str):
        if mode not in modes:
            yield Problem(
                Place(claim, path), f"{mode} is no access mode of volume {name!r}; use {' or '.join(sorted(modes))}"
            )
    claimed = volume.text("spec", "claimRef", "namespace"), volume.text("spec", "claimRef", "name")
    if claimed[1] and claimed != (claim.namespace or "default", claim.name):
        message = f"volume {name!r} is kept for claim {'/'.join(claimed)}; name another volume"
        yield Problem(Place(claim, ("spec", "volumeName")), message)
