"""What a job says again that follows from it: threads, network variables, and options of its launcher among its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.quantities import whole_number
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.sizing import RoleSize

THREADS = Rule(
    id="run/threads",
    title="A pod has no more threads than CPUs.",
    why="threads that share a CPU wait for each other at every step, and data loaders get too little",
    fix="remove the variable: the default divides the pod's CPUs among its processes",
    source="pytorch v2.9 torch/distributed/run.py; OpenMP 5.2, OMP_NUM_THREADS",
    layer="run",
    severity=Severity.WARNING,
)
NETWORK = Rule(
    id="run/network-variable",
    title="A job does not override network variables of its fabric.",
    why="its value replaces the one that follows from the cluster, and NCCL uses other NICs or traffic classes",
    fix="remove the variable, or move it to the cluster's fabric.env; waive this if only this job must differ",
    source="NVIDIA NCCL 2.30 user guide, environment variables; docs/fabric.md",
    layer="run",
    severity=Severity.WARNING,
)
OPTION = Rule(
    id="run/launcher-option",
    title="Options of the launcher are not in args.",
    why="args go to the program: the number of processes stays the same, or the program rejects the option",
    fix="remove the option: nodes, processesPerNode and restarts set the launcher's options",
    source="pytorch v2.9 torch/distributed/run.py; accelerate commands/launch.py; deepspeed launcher/runner.py; "
    "paddle v3.2 python/paddle/distributed/launch/context/args_envs.py; horovod v0.28 horovod/runner/launch.py; "
    "open-mpi v5.0 mpirun(1)",
    layer="run",
    severity=Severity.WARNING,
)

DEBUGGING = Rule(
    id="nccl-debug-level",
    title="Runs set no debugging variables.",
    why="kernels or collectives then run one by one, or every rank writes them to its log",
    fix="remove the variable; waive this while you look for a fault",
    source="CUDA C++ programming guide, CUDA_LAUNCH_BLOCKING; pytorch v2.9 torch/csrc/distributed/c10d/debug.cpp; NCCL",
    layer="run",
    severity=Severity.WARNING,
)

SLOWING = {
    "CUDA_LAUNCH_BLOCKING": ("1",),
    "HIP_LAUNCH_BLOCKING": ("1",),
    "AMD_SERIALIZE_KERNEL": ("1", "2", "3"),
    "TORCH_DISTRIBUTED_DEBUG": ("DETAIL",),
    "NCCL_DEBUG": ("TRACE",),
}
"""Variables that make a run slow for somebody who looks for a fault, by the values that do."""

ADAPTER = re.compile(r"=?(?:mlx[0-9]_[0-9]|(?!mlx)[A-Za-z_]+[0-9])")
"""A list of adapters by their numbers: neither a beginning that all have, nor a list of those left out."""

OLD_GIDS = frozenset({"0", "1", "2"})
"""Indices of GIDs of RoCE v1 and of link-local addresses on every port (Linux, drivers/infiniband/core/cache.c)."""

POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Variables that say how many threads each process has, which all spin while they wait."""

TOLD = frozenset({"NCCL_NET", "NCCL_DEBUG", "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"})
"""What other rules say more of, or what is a matter of taste."""

TORCHRUN = frozenset(
    (
        *("nnodes", "nproc-per-node", "node-rank", "standalone", "max-restarts", "rdzv-backend", "rdzv-endpoint"),
        *("rdzv-id", "rdzv-conf", "master-addr", "master-port"),
    )
)
OPTIONS: dict[str, frozenset[str]] = {
    "torchrun": TORCHRUN,
    "accelerate": frozenset({"num-processes", "num-machines", "machine-rank", "main-process-ip", "main-process-port"}),
    "deepspeed": frozenset({"num-gpus", "num-nodes", "hostfile", "master-addr", "master-port"}),
    "paddle": frozenset({"nnodes", "nproc-per-node", "master", "job-id", "max-restart", "trainer-num", "server-num"}),
    "horovod": frozenset({"num-proc", "min-np", "max-np", "slots-per-host", "host-discovery-script", "hostfile"}),
    "mpirun": frozenset(
        {"np", "hostfile", "machinefile", "oversubscribe", "allow-run-as-root", "map-by", "rank-by", "bind-to", "mca"}
    ),
}
"""By launcher, the options by which it is told what follows here."""

SHORT: dict[str, frozenset[str]] = {"horovod": frozenset({"-np", "-H"}), "mpirun": frozenset({"-np", "-mca"})}
"""The same with one dash, as far as no program has them: `-n` may be its own."""

FIELDS = {
    **dict.fromkeys(("nproc-per-node", "num-processes", "np", "num-proc", "nproc", "num-gpus"), "processesPerNode"),
    **dict.fromkeys(("nnodes", "num-machines", "num-nodes"), "nodes"),
    "x": "env",
}
"""The fields of a job from which some of these options follow."""

EXPORT, HOSTS = "-x", "-H"
EXPORTED = re.compile(r"[A-Z][A-Z0-9_]*(?:=.*)?|[A-Za-z_]\w*=.*")
"""A variable, as `-x` of mpirun is given; a program's own `-x` has other words."""

SLOTS = re.compile(r"[\w.-]+:\d+(?:,[\w.-]+:\d+)*")
"""Hosts with their slots, as `-H` of mpirun is given."""


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield variables and options that say again, and otherwise, what follows from the job and its cluster."""
    job = run.run.job
    yield from check_options(run)
    for size in run.sizing.roles:
        role = job.roles.get(size.name)
        own = {**job.env, **(role.env if role else {})}
        for variable, value in own.items():
            path: Path = ("roles", size.name, "env") if role and variable in role.env else ("env",)
            if wrong := threads(size, variable, value):
                yield THREADS.at(run.run.source, (*path, variable), wrong)
            if value.strip().upper() in SLOWING.get(variable, ()) and size.nodes.value:
                message = f"{variable} is {value!r}, which slows the run down a lot; remove it when the fault is found"
                yield DEBUGGING.at(run.run.source, (*path, variable), message)
            if wrong := other(size, variable, value):
                yield NETWORK.at(run.run.source, (*path, variable), f"{wrong}; remove it")


def other(size: RoleSize, variable: str, value: str) -> str | None:
    """Return the problem with a variable that takes the place of a derived one, or names what no pod knows of."""
    derived = size.env.get(variable)
    if derived is not None and variable not in TOLD and value != derived.value:
        return f"{variable} is {value[:20]!r} instead of {derived.value[:20]!r}, which follows from the fabric"
    if variable == "NCCL_IB_HCA" and derived is None and size.fabric.annotations and ADAPTER.match(value):
        return f"NCCL_IB_HCA is {value[:20]!r}, but names of virtual functions differ from pod to pod"
    if variable == "NCCL_IB_GID_INDEX" and derived is None and size.fabric.annotations and value.strip() in OLD_GIDS:
        return f"NCCL_IB_GID_INDEX is {value}, which is no routable GID of RoCE v2; NCCL finds the right one"
    return None


def threads(size: RoleSize, variable: str, value: str) -> str | None:
    """Return the problem with a number of threads, if a variable is one; a list is of nested threads."""
    threads_each, processes, cpus = whole_number(value), size.processes.value, size.cpus.value
    if variable not in POOLS or threads_each is None or threads_each * processes <= cpus:
        return None
    return f"{variable} is {threads_each} for {processes} processes, but {size.name} has {cpus} CPUs; remove it"


def check_options(run: Resolved) -> Iterator[Finding]:
    """Yield options of the run's launcher among the program's arguments."""
    known = OPTIONS.get(run.launcher.name, frozenset())
    args = run.run.job.args
    for index, (word, value) in enumerate(zip_longest(args, args[1:], fillvalue="")):
        option = word.partition("=")[0]
        long = option.startswith("--") and option[2:].replace("_", "-") in known
        if long or option in SHORT.get(run.launcher.name, ()) or of_mpirun(run.launcher.name, word, value):
            field = FIELDS.get(option.lstrip("-").replace("_", "-"))
            remedy = f"remove it, and set {field}" if field else "remove it"
            message = f"{option} is an option of launcher {run.launcher.name}, but args go to the program; {remedy}"
            yield OPTION.at(run.run.source, ("args", index), message)
        elif word == "--" and index == 0 and (run.run.job.program or run.run.job.module):
            message = "args begin with '--', after which the program takes options for plain words; remove it"
            yield OPTION.at(run.run.source, ("args", index), message)


def of_mpirun(launcher: str, word: str, value: str) -> bool:
    """Whether an option that a program may have as well is mpirun's by the word behind it."""
    wanted = {EXPORT: EXPORTED, HOSTS: SLOTS}.get(word)
    return launcher == "mpirun" and wanted is not None and wanted.fullmatch(value) is not None
