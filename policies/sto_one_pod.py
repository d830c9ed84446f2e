"""A claim is mounted by no more pods than its access mode lets in at once.

Why: A ReadWriteOncePod volume takes one pod and a ReadWriteOnce volume one node. All other pods stay pending, with the
 GPUs of the whole job reserved, until something ends the job.
Fix: use a ReadWriteMany claim, or a claim for each pod (ephemeral.volumeClaimTemplate).
Source: kubernetes v1.35 pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go;
 staging/src/k8s.io/api/core/v1/types.go PersistentVolumeAccessMode
"""

from collections import defaultdict
from collections.abc import Iterator

from trainyard.checks import Mounted, Problem, Severity, World, mounted_claims

POD, NODE = "ReadWriteOncePod", "ReadWriteOnce"

WHOLE_NODE = 8
"""GPUs of a pod that shares no node with another like it."""

MOST = 16
"""GPUs of the largest nodes."""


def check(world: World) -> Iterator[Problem]:
    """Compare the pods that mount each claim among the objects with its access modes."""
    mounts: dict[tuple[str, str], list[Mounted]] = defaultdict(list)
    for mounted in mounted_claims(world):
        mounts[mounted.namespace, mounted.claim].append(mounted)
    for claim in world.of("PersistentVolumeClaim", group=""):
        modes = {mode for _, mode in claim.at("spec", "accessModes", "*", of=str)}
        here = mounts[claim.namespace or "default", claim.name]
        if modes == {POD}:
            yield from one_pod(here)
        elif modes == {NODE}:
            yield from one_node(here)


def one_pod(here: list[Mounted]) -> Iterator[Problem]:
    """Yield the second pods that mount a claim: those of one workload, then those of a second."""
    for mounted in here:
        if mounted.pods > 1:
            message = f"claim {mounted.claim!r} is {POD}, but {mounted.pods} pods of {mounted.ref} mount it"
            yield Problem(mounted.place, f"{message}; only one starts")
    first = here[0] if here else None
    for mounted in here[1:]:
        if first is not None and mounted.ref != first.ref and first.pods <= 1 >= mounted.pods:
            message = f"claim {mounted.claim!r} is {POD}, and {first.ref} mounts it too; one waits for the other"
            yield Problem(mounted.place, message, severity=Severity.WARNING)


def one_node(here: list[Mounted]) -> Iterator[Problem]:
    """Yield pods that fit on no one node and mount the claim of one node."""
    for mounted in here:
        if mounted.pods > 1 and (mounted.gpus >= WHOLE_NODE or mounted.gpus * mounted.pods > MOST):
            message = f"claim {mounted.claim!r} is {NODE}, but {mounted.pods} pods of {mounted.gpus} GPUs mount it"
            yield Problem(mounted.place, f"{message}; only those on one node start")
