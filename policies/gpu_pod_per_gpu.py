"""Ranks that fit on one node must run in one pod.

Why: Containers of different pods share no memory and no IPC namespace. Even on one node NCCL then uses the network
 instead of NVLink.
Fix: request all GPUs in one pod, and let the launcher start one process per GPU.
Source: NVIDIA/nccl 2.30 docs/userguide/source/troubleshooting; docs/jobs.md
"""

import re
from collections.abc import Iterator

from trainyard.checks import (
    WHOLE_GPUS,
    Place,
    Pods,
    Problem,
    Queues,
    Severity,
    TrainingJob,
    World,
    texts,
)

SEVERITY = Severity.WARNING
NEEDS = {"inventory"}

TOGETHER = {"PyTorchJob", "MPIJob", "JAXJob", "PaddleJob", "XGBoostJob"}
"""Kinds whose pods always train together."""

RENDEZVOUS = re.compile(r"--(?:nnodes|rdzv[-_]endpoint|master[-_]addr|node[-_]rank|num_machines)\b.*")
ADDRESS = {"MASTER_ADDR", "PET_MASTER_ADDR", "COORDINATOR_ADDRESS", "TF_CONFIG"}
"""Variables that show that pods of other kinds train together."""


def check(world: World) -> Iterator[Problem]:
    """Find gangs of several pods whose GPUs would all fit on one node of their pool."""
    queues = Queues(world)
    for job in world.training_jobs():
        for gang in gangs_of(job):
            total = sum(pods.count * gpus_of(pods) for pods in gang)
            if sum(pods.count for pods in gang) > 1 and all(train_together(job, pods) for pods in gang):
                node = min(gpus_of_node(queues, job, pods) for pods in gang)
                if node >= total:
                    yield Problem(
                        place_of(gang), f"{counts(gang)} fit on a node of {node}; use one pod with {total} GPUs"
                    )


def gangs_of(job: TrainingJob) -> Iterator[list[Pods]]:
    """Yield the pods with GPUs that train together: of some kinds those of all roles, else those of one."""
    parts = [pods for pods in job.pod_sets() if gpus_of(pods)]
    if job.manifest.kind in TOGETHER and parts:
        yield parts
    else:
        yield from ([pods] for pods in parts)


def gpus_of(pods: Pods) -> int:
    """Return how many whole GPUs one pod has."""
    return max((int(need.amount) for name, need in pods.needs.items() if name in WHOLE_GPUS), default=0)


def place_of(gang: list[Pods]) -> Place:
    """Return where the GPUs of the most pods are requested."""
    most = max(gang, key=lambda pods: pods.count)
    return next(need.place for name, need in most.needs.items() if name in WHOLE_GPUS)


def counts(gang: list[Pods]) -> str:
    """Return in words how many pods with how many GPUs there are."""
    by_size: dict[int, int] = {}
    for pods in gang:
        by_size[gpus_of(pods)] = by_size.get(gpus_of(pods), 0) + pods.count
    several = len(by_size) == 1
    return " and ".join(
        f"{count} {'pod' if count == 1 else 'pods'} with {gpus} GPU{'' if gpus == 1 else 's'}{' each' * several}"
        for gpus, count in by_size.items()
    )


def train_together(job: TrainingJob, pods: Pods) -> bool:
    """Say whether the pods train together."""
    if job.manifest.kind in TOGETHER:
        return True
    said = (text for path, container in pods.containers(init=False) for _, text in texts(job, path, container))
    return any(variable.name in ADDRESS for variable in pods.variables()) or any(
        RENDEZVOUS.fullmatch(text) for text in said
    )


def gpus_of_node(queues: Queues, job: TrainingJob, pods: Pods) -> int:
    """Return the fewest GPUs of a node that the pods may run on, 0 if unknown."""
    inventory = queues.world.inventory
    pools = [inventory.pools[name] if name and inventory else None for name in queues.pools(job, pods, WHOLE_GPUS)]
    return min((pool.node.gpus.count if pool and pool.node.gpus else 0 for pool in pools), default=0)
