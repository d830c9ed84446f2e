"""Plain Python: one process a node, which finds the others through the variables of torch.distributed."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.render.launchers import free
from trainyard.render.launchers.base import PROCESSES, Launcher
from trainyard.render.launchers.commands import program, threads
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.sizing import Sized, Sizing
from trainyard.specs.run import Run

NO_LAUNCHER = Rule(
    id="tor-no-launcher",
    title="A pod with several GPUs starts one process per GPU, or one that uses all.",
    why="a process that uses one GPU leaves the others idle, at full cost",
    fix="use launcher: torchrun; set processesPerNode: 1 if one process uses all GPUs",
    source="kubeflow/trainer v1.9.4 pkg/controller.v1/pytorch/envvar.go; pytorch v2.9 torch/distributed/run.py",
    layer="run",
    severity=Severity.WARNING,
)


class Python(Launcher):
    """Start the program with python, once a node."""

    name = "python"
    needs = frozenset({"rank", "master"})
    begins_together = True
    any_role = True

    @property
    def variables(self) -> frozenset[str]:
        """Variables of `init_method=env://` (pytorch v2.9 torch/distributed/rendezvous.py)."""
        return frozenset({"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK"})

    def processes(self, _run: Run, _role: str, _gpus: int) -> Sized[int]:
        """Return 1, whatever the GPUs."""
        return Sized(1, "launcher python starts one")

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return workers and other roles; a single worker is told of no gang, as which many a program would take it."""
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
        return free.launch(run, sizing, wiring, Role(size, ("python",), program(run), env, fields))

    def check(self, run: Run) -> Iterator[Finding]:
        """Yield numbers of processes that it does not start, and GPUs that one process may leave idle."""
        yield from super().check(run)
        processes, gpus = run.job.processes_per_node, run.job.gpus_per_node
        if processes is not None and processes > 1:
            message = (
                f"processesPerNode is {processes}, but launcher 'python' starts one process; use launcher: torchrun"
            )
            yield PROCESSES.at(run.source, ("processesPerNode",), message)
        elif processes is None and gpus > 1:
            message = (
                f"launcher 'python' starts one process for {gpus} GPUs; use torchrun, or processesPerNode: 1 if the "
                "program uses all"
            )
            yield NO_LAUNCHER.at(run.source, ("launcher",), message)


LAUNCHER = Python()
