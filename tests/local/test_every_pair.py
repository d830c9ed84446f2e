"""One job in every kind: the gang that its processes find is the same, whatever carries the pods.

Every pod's command runs here as its controller and the kubelet would start it, with executables in its way that only
say what they were told. So shells, `$(VAR)` and variables of operators count as they do in a cluster.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from everything import everything
from make import make_run
from trainyard.faces.local import work_of
from trainyard.faces.local.kubelet import Resolved as Pod
from trainyard.render.kinds import build, kinds, resolve
from trainyard.render.kinds.base import Kind, Resolved
from trainyard.render.launchers import Launcher, launchers

NODES = 3

SIZES: dict[str, dict[str, Any]] = {
    "whole GPU nodes on the fabric": {"nodes": NODES, "pool": "h100", "gpus_per_node": 8, "fabric": "rdma"},
    "processes on CPUs": {"nodes": NODES, "pool": "cpu", "gpus_per_node": 0, "processes_per_node": 2},
    "one process a pod": {"nodes": NODES, "pool": "cpu", "gpus_per_node": 0},
}

ECHO = """\
#!{python}
import json, os, sys
with open(os.environ["SAID"], "a") as file:
    file.write(json.dumps({{"argv": [os.path.basename(sys.argv[0]), *sys.argv[1:]], "env": dict(os.environ)}}) + "\\n")
sys.exit(int(os.environ["CODE"]))
"""
"""Says what it was told, and nothing else."""

ENDLESS = {name for name, kind in kinds().items() if kind.carrier.ending is None}
"""Kinds whose pods wait where a program has ended well."""

STUBS = ("python", "torchrun", "accelerate", "train")


@dataclass(frozen=True)
class Seat:
    """What a pod's processes take themselves for."""

    node: int
    """Place of the pod among all."""
    nodes: int
    processes: int
    """In this pod."""
    meet: str
    """Where they meet: host and port."""


Told = tuple[list[str], Mapping[str, str]]


def option(argv: list[str], name: str) -> str | None:
    """Return the value of an option, whichever dash it is written with."""
    found = (word.partition("=")[2] for word in argv if word.replace("_", "-").startswith(f"--{name}="))
    return next(found, None)


def of_torchrun(argv: list[str], env: Mapping[str, str]) -> Seat:
    """Read options, else variables of the same name, as torchrun does (torch v2.9 distributed/run.py)."""

    def said(name: str, default: str = "") -> str:
        return option(argv, name) or env.get("PET_" + name.upper().replace("-", "_")) or default

    meet = said("rdzv-endpoint") or f"{said('master-addr')}:{said('master-port', '29500')}"
    return Seat(int(said("node-rank", "0")), int(said("nnodes").split(":")[-1]), int(said("nproc-per-node", "1")), meet)


def of_variables(_: list[str], env: Mapping[str, str]) -> Seat:
    """Read what `init_method=env://` reads."""
    return Seat(int(env["RANK"]), int(env["WORLD_SIZE"]), 1, f"{env['MASTER_ADDR']}:{env['MASTER_PORT']}")


def of_exec(_: list[str], env: Mapping[str, str]) -> Seat:
    """Read what a command is promised."""
    meet = f"{env['MASTER_ADDR']}:{env['MASTER_PORT']}"
    return Seat(int(env["NODE_RANK"]), int(env["NNODES"]), int(env["LOCAL_WORLD_SIZE"]), meet)


def of_accelerate(argv: list[str], _: Mapping[str, str]) -> Seat:
    """Read what `accelerate launch` reads."""
    nodes, world = int(option(argv, "num-machines") or 0), int(option(argv, "num-processes") or 0)
    meet = f"{option(argv, 'main-process-ip')}:{option(argv, 'main-process-port')}"
    return Seat(int(option(argv, "machine-rank") or 0), nodes, world // nodes, meet)


def of_tensorflow(_: list[str], env: Mapping[str, str]) -> Seat:
    """Read TF_CONFIG, as TFConfigClusterResolver does: workers alone, of which the first is the chief."""
    config = json.loads(env["TF_CONFIG"])
    workers = config["cluster"]["worker"]
    return Seat(int(config["task"]["index"]), len(workers), 1, workers[0])


def of_jax(_: list[str], env: Mapping[str, str]) -> Seat:
    """Read what a program hands on to jax.distributed.initialize."""
    return Seat(int(env["JAX_PROCESS_ID"]), int(env["JAX_NUM_PROCESSES"]), 1, env["JAX_COORDINATOR_ADDRESS"])


def of_xgboost(argv: list[str], env: Mapping[str, str]) -> Seat:
    """Read what the script of the launcher's reads, whose first argument is the task."""
    task = next(word for before, word in itertools.pairwise(argv) if before.endswith("xgboost_start.py"))
    return Seat(int(task), int(env["DMLC_NUM_WORKER"]), 1, f"{env['DMLC_TRACKER_URI']}:{env['DMLC_TRACKER_PORT']}")


def of_paddle(argv: list[str], _: Mapping[str, str]) -> Seat:
    """Read what paddle.distributed.launch reads; the first pod is told its own address, not its name."""
    processes = int(option(argv, "nproc-per-node") or 1)
    return Seat(
        int(option(argv, "rank") or 0), int(option(argv, "nnodes") or 0), processes, option(argv, "master") or ""
    )


READERS: dict[str, Callable[[list[str], Mapping[str, str]], Seat]] = {
    "torchrun": of_torchrun,
    "deepspeed": of_torchrun,
    "accelerate": of_accelerate,
    "python": of_variables,
    "exec": of_exec,
    "tensorflow": of_tensorflow,
    "jax": of_jax,
    "xgboost": of_xgboost,
    "paddle": of_paddle,
}
"""How processes of each launcher learn who they are."""

APART = {"mpirun", "horovod", "ray"}
"""Launchers whose ranks one pod starts, which are held by tests of their own."""


def job(launcher: str, size: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job's fields for a launcher: what it starts, and no number of processes where it starts one."""
    start = {"command": ["train"], "program": None} if "program" not in launchers()[launcher].takes else {}
    return {**size, **start, "launcher": launcher}


def able(launcher: Launcher, kind: Kind, size: Mapping[str, Any]) -> bool:
    """Whether a kind carries the gang."""
    run = make_run(cluster=everything(), kind=kind.name, **job(launcher.name, size))
    if any(finding.is_error for finding in launcher.check(run)):
        return False
    roles = launcher.roles(run)
    return kind.can(launcher.wants(run, roles), roles)


CASES = [
    (title, launcher, kind)
    for title, size in SIZES.items()
    for launcher in READERS
    if launcher in launchers()
    for kind in kinds()
    if able(launchers()[launcher], kinds()[kind], size)
]


def made(launcher: str, kind: str, size: Mapping[str, Any]) -> Resolved:
    """Return the run of a job in a kind."""
    return resolve(make_run(cluster=everything(), kind=kind, **job(launcher, size)))


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Executables that say what they were told."""
    folder = tmp_path_factory.mktemp("bin")
    for name in STUBS:
        (folder / name).write_text(ECHO.format(python=sys.executable))
        (folder / name).chmod(0o755)
    return folder


def started(pod: Pod, stubs: Path, folder: Path, *, code: int) -> Told:
    """Start a pod's container, and return what the executable at its end was told, which ends with a code."""
    said = folder / f"{pod.pod.name}.json"
    paths = f"{stubs}{os.pathsep}{os.defpath}"
    env = {**pod.main.env, "PATH": paths, "SAID": str(said), "CODE": str(code)}
    assert subprocess.run(pod.main.command, env=env, check=False, timeout=60).returncode == code
    told = json.loads(said.read_text().splitlines()[-1])
    return told["argv"], told["env"]


def seats(run: Resolved, stubs: Path, folder: Path) -> Iterator[tuple[Pod, Seat, Mapping[str, tuple[str, ...]]]]:
    """Yield every pod of a run with what its processes take themselves for, and the names that resolve."""
    read = READERS[run.run.job.launcher]
    (work,) = work_of([item.value() for item in build(run)])
    for pod in work.pods:
        if pod.pod.role in {"submitter", "head"}:
            continue
        yield pod, read(*started(pod, stubs, folder, code=int(run.kind.name in ENDLESS))), work.names


@pytest.mark.parametrize(("title", "launcher", "kind"), CASES)
def test_a_gang_is_the_same_in_every_kind(title, launcher, kind, stubs, tmp_path):
    """Pods are numbered from 0 without a gap, agree on the world, and meet at a name of the first of them."""
    run = made(launcher, kind, SIZES[title])
    found = list(seats(run, stubs, tmp_path))
    processes = run.sizing.worker.processes.value
    assert sorted(seat.node for _, seat, _ in found) == list(range(NODES))
    assert {(seat.nodes, seat.processes) for _, seat, _ in found} == {(NODES, processes)}
    first = next(pod for pod, seat, _ in found if seat.node == 0)
    for pod, seat, names in found:
        host = seat.meet.rpartition(":")[0]
        near = {"127.0.0.1", "localhost"} if pod is first else set()
        assert host in near or names[host] == (first.address,), seat
    assert len({seat.meet.rpartition(":")[2] for _, seat, _ in found}) == 1


@pytest.mark.parametrize(("title", "launcher", "kind"), CASES)
def test_pods_ask_for_the_same_in_every_kind(title, launcher, kind):
    """Sizes, volumes, users and grace of the container that trains do not change with what carries it."""
    alike = made(launcher, "JobSet", SIZES[title])
    assert shapes(made(launcher, kind, SIZES[title])) == shapes(alike)


def shapes(run: Resolved) -> set[str]:
    """Return what pods of a run ask for, without what has the run's name in it."""
    (work,) = work_of([item.value() for item in build(run)])
    found = set()
    for pod in work.pods:
        if pod.pod.role in {"submitter", "head"}:
            continue
        spec, container = pod.pod.spec, pod.main.value
        wanted = {
            "resources": container["resources"],
            "mounts": sorted(
                volume_mount["mountPath"]
                for volume_mount in container["volumeMounts"]
                if volume_mount["mountPath"].startswith("/dev/shm")
            ),
            "selector": spec["nodeSelector"],
            "security": [spec["securityContext"], container["securityContext"]],
            "grace": spec["terminationGracePeriodSeconds"],
        }
        found.add(json.dumps(wanted, sort_keys=True).replace(run.run.name, "<run>"))
    return found


def test_every_launcher_is_held():
    """A launcher that is added has a reader here, or tests of its own."""
    assert set(launchers()) <= set(READERS) | APART


def test_every_pair_that_goes_is_here():
    """No kind that carries gangs is left out for want of a job that fits it."""
    there = {kind for _, _, kind in CASES}
    gangs = {name for name, kind in kinds().items() if {"rank", "master"} <= kind.gives}
    assert gangs <= there
