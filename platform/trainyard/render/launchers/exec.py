"""exec: any executable, started once a pod as it is; ranks are in its environment."""

from __future__ import annotations

from trainyard.render.launchers import free
from trainyard.render.launchers.base import Launcher
from trainyard.render.launchers.commands import number_variables, threads
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.sizing import RoleSize, Sized, Sizing
from trainyard.specs.run import Run

NODE = ("NNODES", "NODE_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""What every pod is told, by the names of torchrun's options and of torch.distributed."""

ALONE = ("RANK", "WORLD_SIZE")
"""What a pod is told besides where it is one rank: of a pod with several, the command numbers them itself."""


class Exec(Launcher):
    """Start a command without a shell; a pod that ends with 0 is done."""

    name = "exec"
    needs = frozenset({"rank", "master"})
    begins_together = True
    takes = frozenset({"command"})
    any_role = True

    @property
    def variables(self) -> frozenset[str]:
        """Variables that say who is who."""
        return frozenset({*NODE, *ALONE})

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return the workers, which run the command with the job's arguments after it, and the job's other roles."""
        size = sizing.worker
        env = {"OMP_NUM_THREADS": threads(size.cpus.value, size.processes.value), **gang(size, wiring)}
        command, fields = run.job.command or (), dict[str, str]()
        if size.nodes.value > 1:
            names = ("NODE_RANK", "RANK") if size.processes.value == 1 else ("NODE_RANK",)
            command, fields = number_variables(names, wiring, command)
        return free.launch(run, sizing, wiring, Role(size, command, run.job.args, env, fields))


def gang(size: RoleSize, wiring: Wiring) -> dict[str, Sized[str]]:
    """Return the variables that all pods share; a single pod gets no world size, which programs take for a gang."""
    nodes, processes = size.nodes.value, size.processes.value
    shared = {
        "NNODES": Sized(str(nodes), "nodes of the job"),
        "LOCAL_WORLD_SIZE": Sized(str(processes), size.processes.origin),
        "MASTER_PORT": Sized(str(wiring.port), "the port of torch.distributed"),
    }
    if nodes == 1:
        here = {"NODE_RANK": Sized("0", "the only node"), "MASTER_ADDR": Sized("localhost", "the only node")}
        return shared | here
    shared["MASTER_ADDR"] = Sized(wiring.master, "the first pod's name")
    if processes == 1:
        shared["WORLD_SIZE"] = Sized(str(nodes), f"{nodes} nodes of one process")
    return shared


LAUNCHER = Exec()
