"""A storage class names a CSI driver that is there.

Why: claims of a class whose provisioner nobody runs stay Pending, and runs hold quota until they are given up.
Fix: name the driver as its CSIDriver object is called, or install it.
Source: kubernetes v1.35 content/en/docs/concepts/storage/storage-classes.md; storage.k8s.io/v1 CSIDriver
"""

import difflib
from collections.abc import Iterator

from trainyard.checks import Place, Problem, World, did_you_mean


def check(world: World) -> Iterator[Problem]:
    """Look for provisioners that are nearly a driver of the objects: others may be the provider's own."""
    drivers = {each.name for each in world.of("CSIDriver", group="storage.k8s.io")}
    for storage in world.of("StorageClass", group="storage.k8s.io"):
        name = storage.text("provisioner")
        if name and name not in drivers and difflib.get_close_matches(name, drivers, n=1, cutoff=0.8):
            message = f"no CSI driver is called {name!r}; {did_you_mean(name, drivers)}"
            yield Problem(Place(storage, ("provisioner",)), message)
