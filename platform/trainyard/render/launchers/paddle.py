"""paddle: one `paddle.distributed.launch` a pod, which starts one process a GPU.

The first pod keeps the list of all pods. It does so only where it is told its own address, and not a name of it, so a
shell tells the first pod from the others (paddlepaddle v3.3 python/paddle/distributed/launch/controllers/master.py).
Every node says its rank, so that ranks lie as pods do.
"""

from __future__ import annotations

from trainyard.render.launchers.base import Launcher
from trainyard.render.launchers.commands import program, threads
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.sizing import Sizing
from trainyard.specs.run import Run

KILLED_AFTER = 30
"""Seconds after which the launcher kills what it has told to end (paddlepaddle v3.3 controllers/controller.py stop)."""

LOGS = "/tmp/paddle"  # noqa: S108 - local disk of the pod
"""Where the output of all processes goes; that of a pod's first one is shown too."""

CHOICE = 'test "$0" = 0 && at=127.0.0.1 || at={host}'

MODULE = "paddle.distributed.launch"

SETTINGS = (
    "PADDLE_MASTER",
    "PADDLE_NNODES",
    "PADDLE_RANK",
    "PADDLE_JOB_ID",
    "PADDLE_NPROC_PER_NODE",
    "PADDLE_MAX_RESTART",
    "PADDLE_LOG_DIR",
)
"""Variables that go before options of the same meaning (python/paddle/distributed/launch/context/args_envs.py)."""


class Paddle(Launcher):
    """Start the program with Paddle's own launcher."""

    name = "paddle"
    needs = frozenset({"rank", "master"})
    own_end = 1

    @property
    def variables(self) -> frozenset[str]:
        """What its launcher reads, and what it tells its processes."""
        told = ("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_CURRENT_ENDPOINT")
        return frozenset({*SETTINGS, *told})

    def ending(self, run: Run, grace: int) -> int:
        """Return the seconds of the grace that are left when Paddle's launcher kills its processes."""
        notice = run.pool.notice
        return max(self.own_end, min(grace, notice or grace) - KILLED_AFTER)

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return the one role `worker`; a single pod needs no address."""
        size = sizing.worker
        nodes = size.nodes.value
        env = {"OMP_NUM_THREADS": threads(size.cpus.value, size.processes.value)}
        options = (f"--nproc_per_node={size.processes.value}", "--max_restart=0", f"--log_dir={LOGS}")
        start = ("python", "-u", *program(run))
        if nodes == 1:
            return Launch((Role(size, ("python", "-m", MODULE), (*options, *start), env),))
        gang = (f"--nnodes={nodes}", f"--rank=$({wiring.rank})", f"--job_id={run.name}")
        script = f'{CHOICE.format(host=wiring.master)}; exec python -m {MODULE} --master="$at:{wiring.port}" "$@"'
        command = ("sh", "-c", script, f"$({wiring.rank})")
        return Launch((Role(size, command, (*gang, *options, *start), env),))


LAUNCHER = Paddle()
