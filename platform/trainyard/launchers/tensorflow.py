"""TensorFlow: one process a pod, told of all others by TF_CONFIG: workers, and chief, parameter servers, an evaluator.

Without parameter servers all workers train alike (MultiWorkerMirroredStrategy), the chief or else the first of them
saves too. With them a chief hands out the work and is the one that ends (ParameterServerStrategy).
Facts: tensorflow v2.20 python/distribute/cluster_resolver/tfconfig_cluster_resolver.py, multi_worker_util.py;
tensorflow.org/guide/distributed_training.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from trainyard.findings import Finding
from trainyard.launchers.base import PROCESSES, Launch, Launcher, Role, Wiring, program
from trainyard.rules import Rule
from trainyard.sizing import Implied, RoleSize, Sized, Sizing
from trainyard.specs.run import Run

PORT = 2222
"""Where every task listens; what the TFJob operator takes too (training-operator v1.9.4 tensorflow_types.go)."""

CHIEF, SERVERS, EVALUATOR = "chief", "ps", "evaluator"

CONFIG, INDEX = "TF_CONFIG", "TF_TASK_INDEX"

TASKS = Rule(
    id="tf-config",
    title="A TensorFlow cluster has at most one chief and one evaluator.",
    why="TensorFlow refuses a cluster with two of them when its processes start",
    fix="set nodes: 1 for the role",
    source="tensorflow v2.20 python/distribute/multi_worker_util.py _validate_cluster_spec",
    layer="run",
)


class TensorFlow(Launcher):
    """Start the program with python in every pod of a TensorFlow cluster."""

    name = "tensorflow"
    needs = frozenset({"hosts", "rank"})
    role_names = frozenset({CHIEF, SERVERS, EVALUATOR})

    @property
    def variables(self) -> frozenset[str]:
        """What says who is who."""
        return frozenset({CONFIG, INDEX})

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
        """Return the same command for every role; only TF_CONFIG differs, which the kind may work out itself."""
        several = sizing.pods > 1 and CONFIG not in wiring.sets
        cluster = members(sizing, wiring)
        roles = tuple(role(run, size, wiring, cluster if several else {}) for size in sizing.roles)
        names = [each.name for each in sizing.roles]
        if SERVERS in names:
            ends: tuple[str, ...] = (CHIEF,)
        else:
            ends = tuple(name for name in names if name != EVALUATOR)
        return Launch(roles, ends if len(ends) < len(names) else ())

    def check(self, run: Run) -> Iterator[Finding]:
        """Yield numbers of processes that it does not start, and roles of which there may be one."""
        yield from super().check(run)
        processes = run.job.processes_per_node
        if processes is not None and processes > 1:
            message = f"processesPerNode is {processes}, but launcher 'tensorflow' starts one for all GPUs; remove it"
            yield PROCESSES.at(run.source, ("processesPerNode",), message)
        for name in (CHIEF, EVALUATOR):
            if name in run.job.roles and run.job.roles[name].nodes > 1:
                message = f"role {name!r} has {run.job.roles[name].nodes} nodes, but there is one; remove nodes"
                yield TASKS.at(run.source, ("roles", name, "nodes"), message)


def members(sizing: Sizing, wiring: Wiring) -> dict[str, list[str]]:
    """Return the addresses of every role's pods; an evaluator is none of the cluster."""
    return {
        size.name: [f"{wiring.host(size.name, index)}:{PORT}" for index in range(size.nodes.value)]
        for size in sizing.roles
        if size.name != EVALUATOR
    }


def role(run: Run, size: RoleSize, wiring: Wiring, cluster: Mapping[str, list[str]]) -> Role:
    """Return what one role's pods run; without a cluster a program takes itself for alone, or is told by the kind."""
    env: dict[str, Sized[str]] = {}
    fields: dict[str, str] = {}
    if cluster and wiring.rank_field is not None:
        task = {"type": size.name, "index": 0}
        text = json.dumps({"cluster": cluster, "task": task}, separators=(",", ":"))
        text = text.replace('"index":0', f'"index":$({INDEX})')
        env[CONFIG] = Sized(text, f"every task by its address, and this one as {size.name} of its index")
        fields[INDEX] = wiring.rank_field
    return Role(size, ("python",), program(run), env, fields)


LAUNCHER = TensorFlow()
