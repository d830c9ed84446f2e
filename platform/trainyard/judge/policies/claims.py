"""The claims that pods mount: where each is named, by which object, and by how many of its pods at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.judge.policies.places import Place
from trainyard.judge.policies.ranks import gpus_of
from trainyard.judge.policies.services import all_workloads
from trainyard.judge.policies.world import World
from trainyard.upstream.workloads import ANY


class Mounted(NamedTuple):
    """One claim in a pod template."""

    namespace: str
    claim: str
    place: Place
    """The claim's name in the template."""
    ref: str
    """Kind and name of the object."""
    pods: int
    """Pods of all its templates that mount the claim at the same time."""
    gpus: int
    """Whole GPUs of each of the pods."""


def mounted_claims(world: World) -> Iterator[Mounted]:
    """Yield the claims of all workloads and services, once for each object at the first of its templates."""
    for job in all_workloads(world):
        found: dict[str, Mounted] = {}
        for pods in job.pod_sets():
            for path, name in pods.manifest.at(
                *pods.template, "spec", "volumes", ANY, "persistentVolumeClaim", "claimName", of=str
            ):
                gpus = sum(gpus_of(pods, container) for container, _ in pods.containers(init=False))
                ref = f"{job.manifest.kind} {job.name!r}"
                place = Place(pods.manifest, path)
                known = found.get(name) or Mounted(job.namespace, name, place, ref, 0, gpus)
                found[name] = known._replace(pods=known.pods + pods.count, gpus=min(known.gpus, gpus))
        yield from found.values()
