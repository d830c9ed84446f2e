"""A container with several GPUs must mount its own /dev/shm.

Why: The container runtime provides only 64 MiB there. NCCL and data loader workers need more, and crash with a bus
 error in the middle of the training.
Fix: mount an emptyDir with medium: Memory and a sizeLimit at /dev/shm.
Source: containerd v2.1 pkg/oci/mounts.go; NCCL 2.30 user guide, troubleshooting, shared memory
"""

from collections.abc import Iterator
from typing import Any

from trainyard.checks import Pods, Problem, World, amount_of, is_gpu, mapping, mounted_at

FOLDER = "/dev/shm"  # noqa: S108 - a path in the container
DEFAULT = 64 * 1024**2
"""Bytes that the runtime provides there."""

BRINGS_ITS_OWN = "ray.io"
"""Group of kinds whose operator mounts it (kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go)."""


def check(world: World) -> Iterator[Problem]:
    """Check the containers of training jobs."""
    for job in world.all_jobs():
        if job.manifest.group == BRINGS_ITS_OWN:
            continue
        for pods in job.pod_sets():
            if pods.spec.get("hostIPC"):
                continue
            for place, resource, quantity in pods.limits(init=False):
                if not is_gpu(resource) or quantity.value() <= 1:
                    continue
                container = pods.manifest.get(*place.path[:-3])
                mounts = container.get("volumeMounts") if isinstance(container, dict) else None
                if FOLDER not in [place_of(mount) for mount in mounts or () if isinstance(mount, dict)]:
                    message = (
                        f"container has {quantity} GPUs, but only 64 MiB at {FOLDER}"
                        "; mount an emptyDir with medium: Memory there"
                    )
                    yield Problem(place, message)
                elif small := small_volume(pods, mounts):
                    index, size = small
                    message = f"container has {quantity} GPUs, but only {size} at {FOLDER}; raise sizeLimit to some Gi"
                    yield Problem(pods.place("spec", "volumes", index, "emptyDir", "sizeLimit"), message)


def place_of(mount: dict[str, Any]) -> str:
    """Return the folder at which a volume is mounted."""
    return mounted_at(str(mount.get("mountPath")))


def small_volume(pods: Pods, mounts: Any) -> tuple[int, str] | None:
    """Return the volume at /dev/shm with its size, if that is no more than there would be without it."""
    names = [mount.get("name") for mount in mounts if isinstance(mount, dict) and place_of(mount) == FOLDER]
    volumes = pods.spec.get("volumes")
    for index, volume in enumerate(volumes if isinstance(volumes, list) else ()):
        size = mapping(mapping(volume).get("emptyDir")).get("sizeLimit")
        if mapping(volume).get("name") in names and isinstance(size, (str, int)):
            amount = amount_of(size)
            if amount is not None and 0 < amount <= DEFAULT:
                return index, str(size)
    return None
