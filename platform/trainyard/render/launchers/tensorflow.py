"""TensorFlow: one process a pod, told of all others by TF_CONFIG: workers, and chief, parameter servers, an evaluator.

Without parameter servers all workers train alike (MultiWorkerMirroredStrategy), the chief or else the first of them
saves too. With them a chief hands out the work and is the one that ends (ParameterServerStrategy). That chief waits for
every task in TF_CONFIG's cluster, an evaluator too, which serves nobody; an evaluator that makes a
MultiWorkerMirroredStrategy looks itself up there. So the evaluator is one of a cluster without parameter servers alone.
Facts: tensorflow v2.21 python/distribute/cluster_resolver/tfconfig_cluster_resolver.py, multi_worker_util.py;
tensorflow.org/guide/distributed_training.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from trainyard.base.findings import Finding
from trainyard.render.launchers.base import PROCESSES, Launcher
from trainyard.render.launchers.commands import program
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.sizing import Implied, RoleSize, Sized, Sizing
from trainyard.specs.run import Run

PORT = 2222
"""Where every task listens; what the TFJob operator takes too (training-operator v1.9.4 tensorflow_types.go)."""

CHIEF, SERVERS, EVALUATOR = "chief", "ps", "evaluator"

CONFIG, OURS, INDEX = "TF_CONFIG", "TF_CONFIG_OF_RUN", "TF_TASK_INDEX"

INSTEAD = f'export {CONFIG}="${OURS}"; exec python "$@"'
"""What stands before the program where the kind sets a TF_CONFIG of its own.

A TFJob's names each worker alone where workers may be made anew, and an evaluator for which the chief would wait for
ever (training-operator v1.9.4 pkg/controller.v1/tensorflow/tensorflow.go genTFConfigJSONStr).
"""


class TensorFlow(Launcher):
    """Start the program with python in every pod of a TensorFlow cluster."""

    name = "tensorflow"
    needs = frozenset({"hosts", "rank"})
    role_names = frozenset({CHIEF, SERVERS, EVALUATOR})
    single = frozenset({CHIEF, EVALUATOR})

    @property
    def variables(self) -> frozenset[str]:
        """What says who is who."""
        return frozenset({CONFIG, OURS, INDEX})

    def ports(self, _wiring: Wiring) -> Mapping[int, str]:
        """Return where every task listens."""
        return {PORT: "TensorFlow's tasks listen"}

    def implied(self, run: Run) -> Mapping[str, Implied]:
        """Return the chief that parameter servers need."""
        if SERVERS not in run.job.roles:
            return {}
        why = "launcher tensorflow: a chief hands the work out to workers and parameter servers"
        return {CHIEF: Implied(why, cpus=4, memory="16Gi", trains=True)}

    def processes(self, _run: Run, _role: str, _gpus: int) -> Sized[int]:
        """Return 1: TensorFlow drives all GPUs of a pod from one process."""
        return Sized(1, "launcher tensorflow starts one")

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return the same command for every role; only TF_CONFIG differs."""
        names = [size.name for size in sizing.roles]
        apart = {SERVERS, EVALUATOR} <= set(names)
        cluster = members(sizing, wiring, without=EVALUATOR if apart else None)
        roles = tuple(role(run, size, wiring, {} if sizing.pods == 1 else cluster) for size in sizing.roles)
        ends = tuple(name for name in names if name != EVALUATOR) if SERVERS not in names else (CHIEF,)
        return Launch(roles, ends if len(ends) < len(names) else ())

    def check(self, run: Run) -> Iterator[Finding]:
        """Yield numbers of processes that it does not start too."""
        yield from super().check(run)
        processes = run.job.processes_per_node
        if processes is not None and processes > 1:
            message = (
                f"processesPerNode is {processes}, but launcher 'tensorflow' uses one process for all GPUs; remove it"
            )
            yield PROCESSES.at(run.source, ("processesPerNode",), message)


def members(sizing: Sizing, wiring: Wiring, *, without: str | None) -> dict[str, list[str]]:
    """Return the addresses of every role's pods but one's."""
    return {
        size.name: [f"{wiring.host(size.name, index)}:{PORT}" for index in range(size.nodes.value)]
        for size in sizing.roles
        if size.name != without
    }


def role(run: Run, size: RoleSize, wiring: Wiring, cluster: Mapping[str, list[str]]) -> Role:
    """Return one role with its command; without a cluster a program takes itself for alone."""
    if not cluster or wiring.rank_field is None:
        return Role(size, ("python",), program(run, size.name))
    task = {"type": size.name, "index": 0}
    text = json.dumps({"cluster": cluster, "task": task}, separators=(",", ":"))
    text = text.replace('"index":0', f'"index":$({INDEX})')
    config = Sized(text, f"the addresses of all tasks; this one is {size.name} with the pod's index")
    fields = {INDEX: wiring.rank_field}
    if CONFIG in wiring.sets:
        return Role(size, ("sh", "-c", INSTEAD, "python"), program(run, size.name), {OURS: config}, fields)
    return Role(size, ("python",), program(run, size.name), {CONFIG: config}, fields)


LAUNCHER = TensorFlow()
