"""jax: one process a pod, which drives all of its GPUs and finds the others by JAX's coordinator.

JAX reads the coordinator's address from its environment, and neither how many processes there are nor which of them
this is (jax v0.12 jax/_src/distributed.py): programs hand those on to jax.distributed.initialize. The names are those
that Kubeflow's runtimes for JAX use (trainer v2.3.0 pkg/runtime/framework/plugins/jax).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.render.launchers.base import Launcher, one_process
from trainyard.render.launchers.commands import number_variables, program
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.sizing import Sized, Sizing
from trainyard.specs.run import Run

ADDRESS, PROCESSES, INDEX = "JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID"


class Jax(Launcher):
    """Start the program with python, once a pod."""

    name = "jax"
    needs = frozenset({"rank", "master"})

    @property
    def variables(self) -> frozenset[str]:
        """What says who is who."""
        return frozenset({ADDRESS, PROCESSES, INDEX})

    def processes(self, _run: Run, _role: str, _gpus: int) -> Sized[int]:
        """Return 1: a process of JAX drives all GPUs that it sees."""
        return Sized(1, "launcher jax starts one")

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return the one role `worker`; a single pod gets no variables, since there is nobody to find."""
        size = sizing.worker
        nodes = size.nodes.value
        if nodes == 1:
            return Launch((Role(size, ("python",), program(run)),))
        env = {
            ADDRESS: Sized(f"{wiring.master}:{wiring.port}", "the first pod's name, and a port that is free there"),
            PROCESSES: Sized(str(nodes), f"{nodes} nodes of one process"),
        }
        command, fields = number_variables((INDEX,), wiring, ("python",))
        return Launch((Role(size, command, program(run), env, fields),))

    def check(self, run: Run) -> Iterator[Finding]:
        """Yield numbers of processes that it does not start too."""
        yield from super().check(run)
        yield from one_process(self, run)


LAUNCHER = Jax()
