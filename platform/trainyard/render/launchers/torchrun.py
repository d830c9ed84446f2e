"""torchrun: one agent a node, which starts one process a GPU.

A job of fixed size meets statically: each node's rank is its index, so ranks lie as the pods lie in the topology, and
the kind restarts the gang. An elastic job meets through c10d, and the agents go on with fewer nodes.
Facts: pytorch v2.9 torch/distributed/run.py, torch/distributed/elastic/rendezvous/.
"""

from __future__ import annotations

from trainyard.render.launchers.base import Launcher, bounds
from trainyard.render.launchers.commands import program, threads
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.parts.contract import saving_seconds
from trainyard.render.sizing import Sized, Sizing
from trainyard.specs.run import Run

JOIN_SECONDS = 1800
"""How long early nodes wait for late ones: images of tens of GB are still being pulled (torchrun's default is 600)."""

HOST_CHOICE = 'test "$JOB_COMPLETION_INDEX" = 0 && host=1 || host=0'


class Torchrun(Launcher):
    """Start the program with torchrun."""

    name = "torchrun"
    needs = frozenset({"rank", "master"})
    begins_together = True
    own_end = 5
    elastic = True

    @property
    def variables(self) -> frozenset[str]:
        """Variables that torchrun or its agents set or read."""
        ranks = ("RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE")
        options = (
            "NNODES",
            "NPROC_PER_NODE",
            "NODE_RANK",
            "MASTER_ADDR",
            "MASTER_PORT",
            "RDZV_BACKEND",
            "RDZV_ENDPOINT",
        )
        return frozenset({*ranks, "MASTER_ADDR", "MASTER_PORT", *(f"PET_{name}" for name in options)})

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return the one role `worker`."""
        size = sizing.worker
        start = elastic if run.job.min_nodes is not None else fixed_command
        command, options = start(run, sizing, wiring)
        args = (*options, f"--nproc-per-node={size.processes.value}", *self.rank(run))
        env = of_agent(self, run, sizing) | (anew() if run.job.min_nodes is not None else {})
        return Launch((Role(size, command, args, env),), led=run.job.min_nodes is not None)

    def rank(self, run: Run) -> tuple[str, ...]:
        """Return the command that an agent starts for every rank."""
        return program(run)


def of_agent(launcher: Launcher, run: Run, sizing: Sizing) -> dict[str, Sized[str]]:
    """Return the variables that torchrun's agent reads: threads, and how long processes may save at the end.

    That is the pod's grace, less the agent's own end (pytorch v2.15 torch/distributed/launcher/api.py); releases that
    do not know the variable kill after 30 seconds.
    """
    size = sizing.worker
    seconds = saving_seconds(run, sizing.grace.value, launcher=launcher.name, own_end=launcher.own_end)
    return {
        "OMP_NUM_THREADS": threads(size.cpus.value, size.processes.value),
        "TORCH_ELASTIC_SHUTDOWN_TIMEOUT": Sized(str(seconds.value), seconds.origin),
    }


def anew() -> dict[str, Sized[str]]:
    """Return the variables with which restarted ranks meet at a new store.

    Agents share one store with all rounds of ranks otherwise, in which those of the next round find addresses of
    the last, and fail to connect (pytorch v2.15 torch/distributed/elastic/rendezvous/dynamic_rendezvous.py
    next_rendezvous; pytorch issue 135712).
    """
    why = "1: a new store after each restart, so that ranks do not find old addresses"
    return {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": Sized("1", why)}


def fixed_command(run: Run, sizing: Sizing, wiring: Wiring) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return command and options of a job whose size stays; one node needs no address of others."""
    nodes = sizing.worker.nodes.value
    if nodes == 1:
        return ("torchrun",), ("--standalone", "--nnodes=1", "--max-restarts=0")
    return ("torchrun",), (
        f"--nnodes={nodes}",
        f"--node-rank=$({wiring.rank})",
        f"--master-addr={wiring.master}",
        f"--master-port={wiring.port}",
        "--rdzv-backend=static",
        f"--rdzv-id={run.name}",
        f"--rdzv-conf=timeout={JOIN_SECONDS}",
        "--max-restarts=0",
    )


def elastic(run: Run, sizing: Sizing, wiring: Wiring) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return command and options of a job that goes on between minNodes and maxNodes, which is nodes unless it is said.

    Which node hosts the store is said outright: a node that is found out by its address is not found while DNS is
    still to learn the pod's name. That takes a shell, which torchrun then replaces, so that signals reach it. How long
    nodes wait for the store's host is read_timeout, 60 seconds unless it is said, and not join_timeout (pytorch v2.9
    torch/distributed/elastic/rendezvous/c10d_rendezvous_backend.py).
    """
    least, most = bounds(run.job)
    waits = f"join_timeout={JOIN_SECONDS},read_timeout={JOIN_SECONDS}"
    script = f'{HOST_CHOICE}; exec torchrun --rdzv-conf="is_host=$host,{waits}" "$@"'
    return ("sh", "-c", script.replace("JOB_COMPLETION_INDEX", wiring.rank), "torchrun"), (
        f"--nnodes={least}:{most}",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint={wiring.master}:{wiring.port}",
        f"--rdzv-id={run.name}",
        f"--max-restarts={sizing.restarts.value}",
    )


LAUNCHER = Torchrun()
