"""accelerate: one `accelerate launch` a node, which starts one process a GPU.

Every node's command says all of it: how many nodes and processes there are, which node this is, and where the first is.
What else Accelerate is to do (FSDP, DeepSpeed, mixed precision) stands in a file of the job called `accelerate.yaml`,
as `accelerate config` writes it; what it says of nodes and processes does not count.
Facts: accelerate v1.15.0 src/accelerate/commands/launch.py, src/accelerate/utils/launch.py.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.documents import load
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.render.launchers.base import Launcher
from trainyard.render.launchers.commands import program
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.launchers.torchrun import JOIN_SECONDS, of_agent
from trainyard.render.sizing import Sized, Sizing
from trainyard.specs.run import Run

CONFIG = "accelerate.yaml"
"""Name of the job's file with Accelerate's own settings."""

TYPES = ("MULTI_GPU", "FSDP", "DEEPSPEED", "MEGATRON_LM")
"""Types that torchrun's agent starts, on CPUs too; the others start one process, from a parent that SIGTERM ends."""

CPU = "ACCELERATE_USE_CPU"

SETTINGS = Rule(
    id="run/accelerate-config",
    title="Accelerate's settings start one process for every GPU of a pod.",
    why="with other settings accelerate starts one process, which trains alone and gets no signal to save",
    fix="set distributed_type to MULTI_GPU, FSDP, DEEPSPEED or MEGATRON_LM, without use_cpu and gpu_ids",
    source="accelerate v1.15.0 src/accelerate/commands/launch.py _validate_launch_command, launch_command",
    layer="run",
)


class Accelerate(Launcher):
    """Start the program with `accelerate launch`; a single process needs no launcher and is plain Python."""

    name = "accelerate"
    needs = frozenset({"rank", "master"})
    begins_together = True
    own_end = 5

    @property
    def variables(self) -> frozenset[str]:
        """Variables that the agent or accelerate sets."""
        ranks = ("RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE")
        return frozenset({*ranks, "MASTER_ADDR", "MASTER_PORT", "ACCELERATE_MIXED_PRECISION", CPU})

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return the one role `worker`."""
        size, config = sizing.worker, settings(run)
        nodes, processes = size.nodes.value, size.nodes.value * size.processes.value
        env = of_agent(self, run, sizing)
        if not size.gpus.value:
            env[CPU] = Sized("true", "no GPUs: otherwise a program on CPUs does not find its peers")
        if processes == 1 and config is None:
            return Launch((Role(size, ("python",), program(run), env),))
        options = [f"--num_machines={nodes}", f"--num_processes={processes}", "--max_restarts=0"]
        if nodes > 1:
            options += [f"--machine_rank=$({wiring.rank})", f"--main_process_ip={wiring.master}"]
            options += [f"--main_process_port={wiring.port}", "--rdzv_backend=static"]
            options += [f"--rdzv_conf=timeout={JOIN_SECONDS}"]
        if config is None:
            options += ["--multi_gpu", "--mixed_precision=no", "--dynamo_backend=no"]
        else:
            options += [f"--config_file={config}", "--deepspeed_multinode_launcher=standard"]
        return Launch((Role(size, ("accelerate", "launch"), (*options, *program(run)), env),))

    def check(self, run: Run) -> Iterator[Finding]:
        """Yield settings by which it would start something else, too."""
        yield from super().check(run)
        for index, file in enumerate(run.job.files):
            if posixpath.basename(file.source) == CONFIG:
                wrong = problem(read(run.contents.get(file.source, "")), gpus=run.job.gpus_per_node)
                if wrong:
                    yield SETTINGS.at(run.source, ("files", index, "source"), f"{CONFIG} says {wrong}")


def settings(run: Run) -> str | None:
    """Return where the container finds the job's own settings of Accelerate, if there are any."""
    found = (file for file in run.job.files if posixpath.basename(file.source) == CONFIG)
    return next((posixpath.join(file.mount_path, CONFIG) for file in found), None)


def read(text: str) -> Mapping[str, Any]:
    """Return the settings in a file; empty where it holds none."""
    documents, _ = load(text.encode(), file=CONFIG)
    value = documents[0].value if documents else None
    return value if isinstance(value, Mapping) else {}


def problem(config: Mapping[str, Any], *, gpus: int) -> str | None:
    """Return the problem with settings, and what helps, or None."""
    kind, near = config.get("distributed_type"), config.get("compute_environment", "LOCAL_MACHINE")
    if near != "LOCAL_MACHINE":
        return f"compute_environment is {near}, which starts no process here; use LOCAL_MACHINE"
    if kind not in TYPES:
        return f"distributed_type is {kind}, which starts only one process; use {', '.join(TYPES[:-1])} or {TYPES[-1]}"
    if config.get("use_cpu") is True and gpus:
        return f"use_cpu is true, but a pod has {gpus} GPUs; remove it"
    devices = config.get("gpu_ids")
    if devices not in (None, "all"):
        return f"gpu_ids is {devices}, which leaves other GPUs of the pod idle; use all"
    return None


LAUNCHER = Accelerate()
