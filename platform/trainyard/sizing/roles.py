"""What the pods of one role ask for, put together from the job's wish, the node's shape and the fabric."""

from __future__ import annotations

from trainyard.sizing import amounts, fabric, nccl
from trainyard.sizing.base import RoleSize, Sized
from trainyard.sizing.wish import WORKER, Wish, gpu_resource, wants_rdma
from trainyard.specs import Job
from trainyard.specs.run import Run


def size_role(run: Run, wish: Wish, *, pods: int) -> RoleSize:
    """Return what each pod of the role asks for; `pods` are all pods of the run."""
    job, cluster = run.job, run.cluster
    processes, memory = amounts.processes_of(job, wish), amounts.memory_of(job, wish)
    rails = fabric.rails_of(cluster, wish.pool_name, wish.gpus) if wants_rdma(job, wish) else ()
    attach = cluster.fabric.attach if cluster.fabric else "none"
    return RoleSize(
        name=wish.name,
        pool=wish.pool_name,
        nodes=Sized(wish.nodes, f"{wish.field}nodes of the job"),
        processes=processes,
        gpus=gpus(job, wish),
        cpus=amounts.cpus_of(job, wish),
        memory=memory,
        shared_memory=amounts.shared_memory_of(job, memory, processes.value),
        storage=amounts.storage_of(job, wish),
        devices=devices(job, wish) | {fabric.resource(cluster, rail): one_nic(rail) for rail in rails},
        networks=tuple(fabric.network(rail) for rail in rails) if attach in fabric.SECONDARY else (),
        env=nccl.environment(cluster, wish.pool_name, rdma=bool(rails), pods=pods, gpus=wish.gpus),
    )


def gpus(job: Job, wish: Wish) -> Sized[int]:
    """Return the number of GPUs, or of parts of them, and where it comes from."""
    part = job.gpu is not None and wish.name == WORKER
    return Sized(wish.gpus, "gpu of the job: one part of a GPU" if part else f"{wish.field}gpusPerNode of the job")


def devices(job: Job, wish: Wish) -> dict[str, Sized[int]]:
    """Return the role's GPUs as an extended resource, or nothing."""
    if not wish.gpus or wish.pool.node.gpus is None:
        return {}
    return {gpu_resource(job, wish.pool): gpus(job, wish)}


def one_nic(rail: int) -> Sized[int]:
    """Return one virtual function or NIC of a rail, and why."""
    return Sized(1, f"fabric: rdma; one NIC of rail {rail}")
