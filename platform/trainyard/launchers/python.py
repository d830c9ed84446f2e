"""Plain Python: one process a node, which finds the others through the variables of torch.distributed."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.findings import Finding, Severity
from trainyard.launchers.base import Launcher, Role, Wiring, problem, program, threads
from trainyard.sizing import Sized, Sizing
from trainyard.specs.run import Run


class Python(Launcher):
    """Start the program with python, once a node."""

    name = "python"

    @property
    def variables(self) -> frozenset[str]:
        """Variables of `init_method=env://` (pytorch v2.9 torch/distributed/rendezvous.py)."""
        return frozenset({"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK"})

    def roles(self, run: Run, sizing: Sizing, wiring: Wiring) -> tuple[Role, ...]:
        """Return the one role `worker`; a single node gets no variables, since many a program takes them for a gang."""
        size = sizing.worker
        nodes = size.nodes.value
        env = {"OMP_NUM_THREADS": threads(size.cpus.value, 1)}
        fields: dict[str, str] = {}
        if nodes > 1:
            env |= {
                "MASTER_ADDR": Sized(wiring.master, "the first pod's name"),
                "MASTER_PORT": Sized(str(wiring.port), "the port of torch.distributed"),
                "WORLD_SIZE": Sized(str(nodes), f"{nodes} nodes of one process"),
                "LOCAL_RANK": Sized("0", "one process a node"),
            }
            if wiring.rank_field is not None:
                fields["RANK"] = wiring.rank_field
        return (Role(size, ("python",), program(run), env, fields),)

    def check(self, run: Run) -> Iterator[Finding]:
        """Yield numbers of processes that it does not start, and GPUs that one process may leave idle."""
        yield from super().check(run)
        processes, gpus = run.job.processes_per_node, run.job.gpus_per_node
        if processes is not None and processes > 1:
            message = f"processesPerNode is {processes}, but launcher 'python' starts one; write launcher: torchrun"
            yield problem(run, "run/processes", message, ("processesPerNode",))
        elif processes is None and gpus > 1:
            message = (
                f"launcher 'python' starts one process for {gpus} GPUs"
                "; write launcher: torchrun, or processesPerNode: 1 if the program uses all"
            )
            yield problem(run, "tor-no-launcher", message, ("launcher",), severity=Severity.WARNING)


LAUNCHER = Python()
