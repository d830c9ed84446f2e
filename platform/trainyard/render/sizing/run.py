"""The sizing of a run: its roles, and how long it may take to begin, to run and to end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from trainyard.base.system.once import once
from trainyard.render.sizing import amounts, disks, nvlink
from trainyard.render.sizing.base import Attached, Closeness, RoleSize, Sized, Sizing, Slices
from trainyard.render.sizing.environment import environment
from trainyard.render.sizing.fabrics import Share, fabric_type
from trainyard.render.sizing.gpus import gpu_resource
from trainyard.render.sizing.injected import injected_containers
from trainyard.render.sizing.node import pins_memory
from trainyard.render.sizing.restarts import restarts
from trainyard.render.sizing.roles import WORKER, RoleSpec, neighbour_roles, wants_rdma
from trainyard.render.sizing.saving import STEP, save
from trainyard.specs import Cluster, Job
from trainyard.specs.run import Run

GRACE = 30
"""Seconds that Kubernetes gives by default (core/v1 PodSpec.terminationGracePeriodSeconds)."""


def size_run(run: Run, roles: Sequence[RoleSpec]) -> Sizing:
    """Return the sizes of the pods of all roles, each value with its origin; the first role is the worker."""
    pods = sum(role.nodes for role in roles if role.ranks)
    return Sizing(
        roles=tuple(size_role(run, role, neighbour_roles(role, roles), pods=pods) for role in roles),
        grace=grace(run, pods=pods),
        restarts=restarts(run, roles),
        deadline=deadline(run),
        topology=closeness(run, pods=pods),
    )


def size_role(run: Run, role: RoleSpec, neighbours: Sequence[RoleSpec], *, pods: int) -> RoleSize:
    """Return the size of each pod of the role; `pods` are those of the run that have ranks."""
    job, cluster = run.job, run.cluster
    attached = attach(cluster, role.pool_name, role.gpus, pods) if wants_rdma(job, role) else Attached()
    attached |= nvlink.attach_channel(run, role.pool, pods=pods) if role.gpus else Attached()
    added = injected_containers(run, trains=role.trains)
    memory = amounts.memory_of(job, role, neighbours, attached.sidecars, added)
    return RoleSize(
        name=role.name,
        pool=role.pool_name,
        pools=run.pools if role.anywhere and len(run.pools) > 1 else (),
        nodes=Sized(role.nodes, role.source_of(job, "nodes")),
        processes=role.processes,
        gpus=gpus(job, role),
        cpus=amounts.cpus_of(job, role, neighbours, attached.sidecars, added),
        memory=memory,
        shared_memory=amounts.shared_memory_of(job, role, memory),
        storage=disks.storage_of(job, role),
        devices={**devices(job, role), **attached.devices},
        fabric=attached,
        env={**environment(cluster, pods=pods, gpus=role.gpus), **attached.env},
        injected=added,
        trains=role.trains,
        ranks=role.ranks,
        untied=pins_memory(role.pool) and role.pool.node.gpus is not None and not role.gpus,
    )


def gpus(job: Job, role: RoleSpec) -> Sized[int]:
    """Return the number of GPUs, or of parts of them, and where it comes from."""
    part = job.gpu is not None and role.name == WORKER
    return Sized(role.gpus, "gpu of the job: a part of a GPU" if part else role.source_of(job, "gpus_per_node"))


def devices(job: Job, role: RoleSpec) -> dict[str, Sized[int]]:
    """Return the role's GPUs as an extended resource, or nothing."""
    if not role.gpus or role.pool.node.gpus is None:
        return {}
    resource = gpu_resource(job, role.pool) if role.name == WORKER else role.pool.node.gpus.resource
    return {resource: gpus(job, role)}


@once
def attach(cluster: Cluster, pool_name: str, gpus: int, pods: int) -> Attached:
    """Return the fabric's attachment of a role's pods, with the environment that the fabric states."""
    attached = fabric_type(cluster).attached(Share(cluster, pool_name, gpus, pods))
    stated = cluster.fabric.env if cluster.fabric else {}
    return replace(
        attached, env={**attached.env, **{name: Sized(text, "env of the fabric") for name, text in stated.items()}}
    )


def grace(run: Run, *, pods: int) -> Sized[int]:
    """Return the seconds that a run gets to save and end: a step, and a checkpoint at twice its expected time.

    `pods` are those that save. A spot node is gone before a longer one is over.
    """
    job, notice = run.job, run.pool.notice
    if job.grace_seconds is not None:
        return Sized(job.grace_seconds, "graceSeconds of the job")
    wanted = Sized(GRACE, "default: no checkpoint to save")
    if job.checkpoint is not None:
        expected = save(run, job.checkpoint, pods=pods)
        saving = 2 * expected.seconds
        seconds = STEP + math.ceil(saving)
        up = "" if saving == math.ceil(saving) else ", rounded up"
        why = f"{seconds} = {STEP} for a step + 2 × {job.checkpoint.size} / ({expected.speed}){up}"
        wanted = Sized(seconds, why)
    if notice is None or wanted.value <= notice:
        return wanted
    return Sized(notice, f"{notice}: notice of nodes in pool {run.pool_name!r}, shorter than the {wanted.value} needed")


def deadline(run: Run) -> Sized[int] | None:
    """Return the seconds after which the run is ended, or None where the job sets no limit."""
    hours = run.job.max_hours
    return None if hours is None else Sized(max(1, round(hours * 3600)), f"maxHours of the job: {hours:g} × 3600")


def closeness(run: Run, *, pods: int) -> Sized[Closeness] | None:
    """Return the topology that Kueue is asked for, by the job and by the reach of NVLink.

    Pods that share memory over NVLink beyond their node must be in one domain, or in equal slices that each are, unless
    the job says of that very level that it is only preferred, or requires a finer one. A finer level is not preferred
    beside: Kueue refuses slices that are wider than their pod set (v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go).
    """
    near = place_topology(run, pods=pods)
    level = run.pool.nvlink or ""
    label, most = run.cluster.levels_of(run.pool_name).get(level), run.pool.node.nvlink_nodes
    if pods == 1 or label is None or not nvlink.reaches(run.cluster, run.pool) or not run.job.gpus_per_node:
        return near
    asked, labels = run.job.topology, list(run.cluster.levels_of(run.pool_name).values())
    finer = near is not None and labels.index(near.value.label) > labels.index(label)
    if asked is not None and (asked.level == level or (finer and asked.required)):
        return near
    if pods <= most and (asked is None or finer):
        return Sized(Closeness("required", label), f"required {level}: {pods} of the {most} nodes in an NVLink domain")
    if near is None or finer:
        near = Sized(Closeness("preferred", label), f"preferred {level}: {pods} pods, {most} nodes in an NVLink domain")
    slices = Slices(label, nodes=most, pool=run.pool.nodes)
    text = f"{near.origin}; {slices.size(pods)} pods each within one {level}, over NVLink"
    return Sized(replace(near.value, slices=slices), text)


def place_topology(run: Run, *, pods: int) -> Sized[Closeness] | None:
    """Return the topology that Kueue is asked for: the job's, else near together where the cluster has racks.

    `pods` are those that train, which alone talk much.
    """
    asked = run.job.topology
    levels = run.cluster.levels_of(run.pool_name)
    if asked is not None:
        label = levels.get(asked.level)
        if label is None:
            return None
        mode = "required" if asked.required else "preferred"
        return Sized(Closeness(mode, label), f"topology of the job: {mode} {asked.level}")
    named = list(levels)[:-1] or list(levels)
    if pods == 1 or not named:
        return None
    return Sized(Closeness("preferred", levels[named[-1]]), f"preferred {named[-1]}: close ranks communicate faster")
