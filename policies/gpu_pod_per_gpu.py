"""Ranks that fit on one node must run in one pod.

Why: Containers of different pods share no memory and no IPC namespace. Even on one node NCCL then uses the network
 instead of NVLink.
Fix: request all GPUs in one pod, and let the launcher start one process per GPU.
Source: NVIDIA/nccl 2.30 docs/userguide/source/troubleshooting; docs/jobs.md
"""

import re
from collections.abc import Iterator

from trainyard.checks import (
    POOL,
    WHOLE_GPUS,
    Pods,
    Problem,
    Queues,
    Severity,
    TrainingJob,
    World,
    pool_of,
    selected_pools,
    strings,
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
        for pods in job.pod_sets():
            gpus_by_name = {name: int(need.amount) for name, need in pods.needs.items() if name in WHOLE_GPUS}
            gpus = max(gpus_by_name.values(), default=0)
            node = gpus_of_node(queues, job, pods) if gpus and pods.count > 1 and train_together(job, pods) else 0
            if node >= pods.count * gpus > 0:
                total = pods.count * gpus
                message = (
                    f"{pods.count} pods with {gpus} GPU{'' if gpus == 1 else 's'} each fit on a node of {node}"
                    f"; use one pod with {total} GPUs"
                )
                yield Problem(next(need.place for name, need in pods.needs.items() if name in gpus_by_name), message)


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
    queue = queues.of(job)
    flavors = queues.flavors(queue, WHOLE_GPUS) if queue else []
    selector = strings(pods.spec.get("nodeSelector"))
    labels = [strings(flavor.get("spec", "nodeLabels")) for flavor in flavors] or [selector]
    named = selected_pools(pods.spec)
    may = [label for label in labels if not named or label.get(POOL, named[0]) in named]
    found = [pool_of(queues.world, {**label, **selector}) for label in may]
    inventory = queues.world.inventory
    pools = [inventory.pools[flavor[0]] if flavor and inventory else None for flavor in found]
    return min((pool.node.gpus.count if pool and pool.node.gpus else 0 for pool in pools), default=0)
