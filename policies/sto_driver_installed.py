"""A storage class names a driver that is there, and says what the driver needs.

Why: claims of a class whose driver nobody runs, or refuses it, stay Pending, and runs hold quota until they are given
 up.
Fix: name the driver as its CSIDriver object is called, and add the parameters and the names of the secrets.
Source: platform/trainyard/specs/drivers; kubernetes v1.35 content/en/docs/concepts/storage/storage-classes.md
"""

import difflib
from collections.abc import Iterator

from trainyard.checks import Place, Problem, World, did_you_mean, lacking


def check(world: World) -> Iterator[Problem]:
    """Look at provisioners that are nearly a driver of the objects, others being the provider's, and at parameters."""
    drivers = {item.name for item in world.of("CSIDriver", group="storage.k8s.io")}
    for storage in world.of("StorageClass", group="storage.k8s.io"):
        name = storage.text("provisioner")
        if name and name not in drivers and difflib.get_close_matches(name, drivers, n=1, cutoff=0.8):
            message = f"no CSI driver is called {name!r}; {did_you_mean(name, drivers)}"
            yield Problem(Place(storage, ("provisioner",)), message)
        for missing, title in lacking(storage):
            message = f"class {storage.name!r} lacks {missing}, which {title} needs; add it to parameters"
            yield Problem(Place(storage, ("parameters",), key=True), message)
