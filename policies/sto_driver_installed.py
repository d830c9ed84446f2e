"""A StorageClass must name an installed driver and set the parameters that the driver needs.

Why: Otherwise no volume is created: claims stay Pending, and jobs that mount them hold their quota until they are
 stopped.
Fix: write the driver's name as in its CSIDriver object, and add missing parameters and secrets.
Source: platform/trainyard/specs/drivers; kubernetes v1.35 content/en/docs/concepts/storage/storage-classes.md
"""

import difflib
from collections.abc import Iterator

from trainyard.checks import Place, Problem, World, did_you_mean, lacking


def check(world: World) -> Iterator[Problem]:
    """Check parameters, and provisioners that almost match a driver here; others may be the provider's."""
    drivers = {item.name for item in world.of("CSIDriver", group="storage.k8s.io")}
    for storage in world.of("StorageClass", group="storage.k8s.io"):
        name = storage.text("provisioner")
        if name and name not in drivers and difflib.get_close_matches(name, drivers, n=1, cutoff=0.8):
            message = f"CSI driver {name!r} does not exist; {did_you_mean(name, drivers)}"
            yield Problem(Place(storage, ("provisioner",)), message)
        for missing, title in lacking(storage):
            message = f"parameters of StorageClass {storage.name!r} lack {missing}, which {title} needs"
            yield Problem(Place(storage, ("parameters",), key=True), message)
