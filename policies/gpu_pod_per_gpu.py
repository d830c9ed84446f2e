"""Ranks that fit one node are in one pod.

Why: containers of different pods share no memory and no IPC namespace, so NCCL takes the network between GPUs of one
 node instead of NVLink.
Fix: ask for one pod with all the GPUs, and let the launcher start a process for each.
Source: NVIDIA/nccl 2.30 docs/userguide/source/troubleshooting; docs/jobs.md
"""

import re
from collections.abc import Iterator

from trainyard.checks import (
    WHOLE_GPUS,
    Pods,
    Problem,
    Queues,
    Severity,
    TrainingJob,
    World,
    pool_of,
    strings,
    texts,
)

SEVERITY = Severity.WARNING
NEEDS = {"inventory"}

TOGETHER = {"PyTorchJob", "MPIJob", "JAXJob", "PaddleJob", "XGBoostJob"}
"""Kinds whose pods always train as one."""

MEET = re.compile(r"--(?:nnodes|rdzv[-_]endpoint|master[-_]addr|node[-_]rank|num_machines)\b.*")
ADDRESS = {"MASTER_ADDR", "PET_MASTER_ADDR", "COORDINATOR_ADDRESS", "TF_CONFIG"}
"""By these, pods of other kinds tell that they meet each other."""


def check(world: World) -> Iterator[Problem]:
    """Look for gangs of several pods whose GPUs together are no more than one node of their pool has."""
    queues = Queues(world)
    for job in world.training_jobs():
        for pods in job.pod_sets():
            gpus_by_name = {name: int(need.amount) for name, need in pods.needs.items() if name in WHOLE_GPUS}
            gpus = max(gpus_by_name.values(), default=0)
            node = gpus_of_node(queues, job, pods) if gpus and pods.count > 1 and meets(job, pods) else 0
            if node >= pods.count * gpus > 0:
                total = pods.count * gpus
                message = f"{pods.count} pods have {gpus} each of a node's {node} GPUs; ask for one pod with {total}"
                yield Problem(next(need.place for name, need in pods.needs.items() if name in gpus_by_name), message)


def meets(job: TrainingJob, pods: Pods) -> bool:
    """Say whether the pods train as one, rather than each by itself."""
    if job.manifest.kind in TOGETHER:
        return True
    said = (text for path, container in pods.containers(init=False) for _, text in texts(job, path, container))
    return any(variable.name in ADDRESS for variable in pods.variables()) or any(MEET.fullmatch(text) for text in said)


def gpus_of_node(queues: Queues, job: TrainingJob, pods: Pods) -> int:
    """Return the fewest GPUs that a node has on which the pods may run, 0 where that is not known."""
    queue = queues.of(job)
    flavors = queues.flavors(queue, WHOLE_GPUS) if queue else []
    selector = strings(pods.spec.get("nodeSelector"))
    labels = [strings(flavor.get("spec", "nodeLabels")) for flavor in flavors] or [selector]
    found = [pool_of(queues.world, {**label, **selector}) for label in labels]
    inventory = queues.world.inventory
    pools = [inventory.pools[flavor[0]] if flavor and inventory else None for flavor in found]
    return min((pool.node.gpus.count if pool and pool.node.gpus else 0 for pool in pools), default=0)
