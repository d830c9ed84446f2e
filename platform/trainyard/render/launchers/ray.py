"""ray: one program, the driver, which starts a process a GPU in the pods of a Ray cluster, as Ray Train does.

The cluster is a head without GPUs, which keeps the books and runs the driver, and workers. What the driver asks Ray for
has to be what the workers have: a driver that asks for more waits for ever, and one that asks for less leaves nodes
idle. So it is told by variables. How many processes there are is for the driver to say, which is why they stand in no
command line.
Facts: ray v2.60 python/ray/train/v2, python/ray/_private/node.py; kuberay v1.6.2 ray-operator/controllers/ray.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterable, Iterator, Mapping

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.render.launchers.base import Launcher
from trainyard.render.launchers.commands import start_command, threads
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.parts.containers import REFERENCE
from trainyard.render.parts.contract import saving_seconds
from trainyard.render.parts.storage import LAUNCH_FOLDER
from trainyard.render.sizing import Implied, RoleSize, RoleSpec, Sized, Sizing
from trainyard.render.sizing.restarts import restarts
from trainyard.specs.run import Run

HEAD = "head"

DRIVER, SUBMIT = "driver.sh", "submit.sh"
"""Files of ours in every pod."""

WORKERS, CPUS, GPUS, FAILURES = "TRAIN_WORKERS", "TRAIN_WORKER_CPUS", "TRAIN_WORKER_GPUS", "TRAIN_MAX_FAILURES"
"""What the driver gives Ray Train, in its ScalingConfig and its FailureConfig."""

DRAIN = "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"
"""Seconds between the end of a pod being told and its processes being killed; Ray Train tells the program meanwhile."""

DASHBOARD = 8265
"""Where the head takes programs (ray v2.60 python/ray/_private/ray_constants.py DEFAULT_DASHBOARD_PORT)."""

AGENT, ALIVE = 52365, "/api/local_raylet_healthz"
"""Where every Ray node tells that it is well (ray v2.60 python/ray/dashboard/modules/reporter/healthz_agent.py)."""

PORTS = {
    6379: "Ray's head listens",
    DASHBOARD: "Ray's dashboard listens",
    10001: "Ray's clients are served",
    AGENT: "Ray's agent listens",
}
"""Ports of a Ray cluster, by number (ray v2.60 python/ray/_private/ray_constants.py; kuberay v1.6.2 constant.go)."""

SUBMITS = """\
# Submits the driver once Ray answers, and again when it fails, so many times as the argument says.
address=http://127.0.0.1:{port}
follow() {{
  until python -c "import urllib.request as r; r.urlopen('{agent}', timeout=5)" 2>/dev/null; do sleep 5; done
  left=$1
  until ray job submit --address $address -- sh {driver}; do
    [ "$left" -gt 0 ] || break
    left=$((left - 1))
  done
  echo "the driver has ended; the cluster stays until its run is retired" >&2
}}
follow "$1" &
"""
"""For clusters whose operator submits nothing: it returns at once, so that Ray itself is started after it.

What it asks while Ray starts is light: commands of `ray` take seconds of a CPU each, and Ray has to start in thirty.
"""


TOO_FEW = Rule(
    id="run/ray-cpus",
    title="A worker of a Ray cluster has a CPU for each of its processes.",
    why="Ray Train requests them all at once, and waits for ever for a CPU that no worker has",
    fix="lower processesPerNode, or raise cpusPerNode",
    source="ray v2.60 python/ray/train/v2/_internal/execution/worker_group; docs/launchers.md",
    layer="run",
)


class Ray(Launcher):
    """Run the program once, as the driver of a Ray cluster."""

    name = "ray"
    needs = alone = frozenset({"ray"})
    role_names = single = frozenset({HEAD})
    takes = frozenset({"program", "module", "command"})
    own_end = 5

    @property
    def variables(self) -> frozenset[str]:
        """What the driver is told, and how long a pod waits for its processes."""
        return frozenset({WORKERS, CPUS, GPUS, FAILURES, DRAIN})

    def ports(self, _wiring: Wiring) -> Mapping[int, str]:
        """Return where the head and every node of Ray listen."""
        return PORTS

    def implied(self, _run: Run) -> Mapping[str, Implied]:
        """Return the head."""
        why = "launcher ray: the head keeps the cluster together and runs the driver"
        return {HEAD: Implied(why, cpus=2, memory="8Gi", trains=True, processes=none())}

    def processes(self, run: Run, role: str, gpus: int) -> Sized[int]:
        """Return how many processes the driver is told to start in a worker; in the head there is none."""
        return none() if role == HEAD else super().processes(run, role, gpus)

    def check_sized(self, run: Run, sizing: Sizing) -> Iterator[Finding]:
        """Yield more processes than workers have CPUs: the driver asks for a whole one for each, and waits for them."""
        cpus, processes = sizing.worker.cpus.value, sizing.worker.processes.value
        if processes <= cpus:
            return
        if run.job.processes_per_node is not None:
            message = (
                f"processesPerNode is {processes}, but a worker has {cpus} CPUs, one per process; use {cpus} or less"
            )
            yield TOO_FEW.at(run.source, ("processesPerNode",), message)
        else:
            message = f"cpusPerNode is {cpus}, but a worker needs a CPU for each of {processes} processes; raise it"
            yield TOO_FEW.at(run.source, ("cpusPerNode",), message)

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return workers and head, which the operator starts as Ray wants it, and the driver."""
        worker, head = sizing.worker, sizing.role(HEAD)
        entrypoint = ("sh", path(DRIVER))
        files = {DRIVER: script(run)}
        before: tuple[str, ...] = ()
        if not wiring.submits:
            agent = f"http://127.0.0.1:{AGENT}{ALIVE}"
            files[SUBMIT] = SUBMITS.format(port=DASHBOARD, driver=path(DRIVER), agent=agent)
            before = ("sh", path(SUBMIT), str(attempts(run, sizing, self.roles(run))))
        told = saving_seconds(run, sizing.grace.value, launcher=self.name, own_end=self.own_end)
        drain = {DRAIN: Sized(str(told.value), told.origin)}
        omp = threads(worker.cpus.value, worker.processes.value)
        roles = (
            Role(worker, (), env={**drain, "OMP_NUM_THREADS": omp}),
            Role(head, before, env={**drain, **quiet(), **train_request(worker, sizing)}),
        )
        return Launch(roles, ends=(HEAD,), entrypoint=entrypoint, files=files)


def none() -> Sized[int]:
    """Return the number of processes in the head."""
    return Sized(0, "none: the head runs the driver, which has no rank")


def train_request(worker: RoleSize, sizing: Sizing) -> dict[str, Sized[str]]:
    """Return the variables with which the driver asks Ray Train for workers and resources."""
    nodes, processes, gpus = worker.nodes.value, worker.processes.value, worker.gpus.value
    gpus_each = gpus / processes
    return {
        WORKERS: Sized(str(nodes * processes), f"{nodes} nodes × {processes} processes"),
        CPUS: threads(worker.cpus.value, processes),
        GPUS: Sized(f"{gpus_each:g}", f"{gpus_each:g} = {gpus} GPUs / {processes} processes"),
        FAILURES: Sized(str(sizing.restarts.value), sizing.restarts.origin),
    }


def attempts(run: Run, sizing: Sizing, roles: Iterable[RoleSpec]) -> int:
    """Return how often the driver is started again: as often as the head is likely to be lost, as the job says at most.

    Workers that are lost are Ray Train's to get over, within the driver.
    """
    heads = [role for role in roles if role.name == HEAD]
    return min(sizing.restarts.value, restarts(run, heads).value)


def quiet() -> dict[str, Sized[str]]:
    """Return the variables that stop Ray from reporting usage of the cluster to its makers.

    ray v2.60 python/ray/_common/usage/usage_lib.py.
    """
    return {"RAY_USAGE_STATS_ENABLED": Sized("0", "0: Ray sends no usage statistics")}


def path(name: str) -> str:
    """Return where a file of ours is in every pod."""
    return posixpath.join(LAUNCH_FOLDER, name)


def script(run: Run) -> str:
    """Return the script that starts the driver: a file, since two shells read a command line on its way to Ray."""
    folder = f"cd {shell((run.job.working_dir,))}\n" if run.job.working_dir else ""
    return f"# The driver: Ray starts it on the head.\n{folder}exec {shell(start_command(run))}\n"


def shell(words: Iterable[str]) -> str:
    """Return words for a shell, with variables as the kubelet would put them in: `$(NAME)`, `$$` for a dollar."""
    return " ".join(map(quote_word, words))


def quote_word(word: str) -> str:
    """Return one word for a shell; a variable that is not there stays as it is written."""
    parts = enumerate(REFERENCE.split(word))
    return "".join(refer_variable(part) if index % 2 else part and shlex.quote(part) for index, part in parts) or "''"


def refer_variable(name: str | None) -> str:
    """Return a variable for a shell, or the dollar that two of them mean."""
    return f'"${{{name}-\\$({name})}}"' if name else "'$'"


LAUNCHER = Ray()
