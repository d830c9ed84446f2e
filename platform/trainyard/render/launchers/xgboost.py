"""xgboost: one process a pod, and beside the first of them the tracker by which they meet.

XGBoost reads nothing of its collective from the environment: programs hand the three variables on to
CommunicatorContext (xgboost v3.4 python-package/xgboost/collective.py, seen). The names are those of dmlc-core's
trackers, which Kubeflow's runtimes for XGBoost use too (trainer v2.3.0 pkg/runtime/framework/plugins/xgboost).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.render.launchers.base import Launcher, one_process
from trainyard.render.launchers.commands import program, threads
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.parts.storage import LAUNCH_FOLDER
from trainyard.render.sizing import Sized, Sizing
from trainyard.specs.run import Run

ADDRESS, PORT, TASK, WORKERS = "DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"

IDLE = Rule(
    id="run/xgboost-gpus",
    title="A pod of XGBoost has at most one GPU.",
    why="an XGBoost process trains on one GPU, so the others are idle, at full cost",
    fix="use one GPU per pod, and more pods",
    source="xgboost v3.4 doc/gpu/index.rst, doc/changes/v1.0.0.rst: n_gpus is gone",
    layer="run",
    severity=Severity.WARNING,
)

PATIENCE = 1800
"""Seconds for the tracker to come up, big images included, as long as torchrun's nodes wait for each other."""

AFTER = 300
"""Seconds that the first pod waits at its end for the others, as long as torchrun's agents do."""

FILE = "xgboost_start.py"

START = f'''\
"""Starts a program of XGBoost as one of several; beside the first of them, the tracker by which they meet."""

import os
import signal
import socket
import subprocess
import sys
import time

rank, count = int(sys.argv[1]), int(os.environ["{WORKERS}"])
address = (os.environ["{ADDRESS}"], int(os.environ["{PORT}"]))
# Ranks follow tasks in the order of their names.
os.environ["{TASK}"] = f"{{rank:06d}}"
command = [sys.executable, *sys.argv[2:]]

if rank:
    late = time.monotonic() + {PATIENCE}
    while True:
        try:
            socket.create_connection(address, 10).close()
            break
        except OSError as error:
            if time.monotonic() > late:
                sys.exit(f"no tracker at {{address[0]}}:{{address[1]}}: {{error}}")
            time.sleep(2)
    os.execv(sys.executable, command)

from xgboost.tracker import RabitTracker

late = time.monotonic() + {PATIENCE}
while True:
    try:
        tracker = RabitTracker(n_workers=count, host_ip="0.0.0.0", port=address[1], sortby="task")
        break
    except Exception:  # The port of a tracker that was here before is free after a minute.
        if time.monotonic() > late:
            raise
        time.sleep(1)
tracker.start()
program = subprocess.Popen(command)
signal.signal(signal.SIGTERM, lambda *_: program.terminate())
code = program.wait()
if code == 0:
    try:
        tracker.wait_for({AFTER})
    except Exception as error:
        print(f"not all others have ended: {{error}}", file=sys.stderr)
sys.stdout.flush()
os._exit(code if code >= 0 else 128 - code)
'''
"""What every pod of several runs: it waits for the tracker, whose name comes with its pod, longer than XGBoost does.

The tracker of the first pod outlives its program, for that may end before the others do (xgboost v3.4, seen).
"""


class XGBoost(Launcher):
    """Start the program with python, once a pod."""

    name = "xgboost"
    needs = frozenset({"rank", "master"})

    @property
    def variables(self) -> frozenset[str]:
        """What says who is who."""
        return frozenset({ADDRESS, PORT, TASK, WORKERS})

    def processes(self, _run: Run, _role: str, _gpus: int) -> Sized[int]:
        """Return 1: XGBoost has a thread a CPU, and one GPU a process."""
        return Sized(1, "launcher xgboost starts one")

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return the one role `worker`; a single pod gets no variables, since there is nobody to find."""
        size = sizing.worker
        nodes = size.nodes.value
        env = {"OMP_NUM_THREADS": threads(size.cpus.value, 1)}
        if nodes == 1:
            return Launch((Role(size, ("python",), program(run), env),))
        env |= {
            ADDRESS: Sized(wiring.master, "the first pod's name"),
            PORT: Sized(str(wiring.port), "a port that is free there"),
            WORKERS: Sized(str(nodes), f"{nodes} nodes of one process"),
        }
        start = (posixpath.join(LAUNCH_FOLDER, FILE), f"$({wiring.rank})")
        return Launch((Role(size, ("python", *start), program(run), env),), files={FILE: START})

    def check(self, run: Run) -> Iterator[Finding]:
        """Yield numbers of processes that it does not start, and GPUs that its one process leaves idle."""
        yield from super().check(run)
        yield from one_process(self, run)
        if run.job.gpus_per_node > 1:
            message = (
                f"launcher 'xgboost' starts one process, which uses one of {run.job.gpus_per_node} GPUs; set "
                "gpusPerNode: 1"
            )
            yield IDLE.at(run.source, ("gpusPerNode",), message)


LAUNCHER = XGBoost()
