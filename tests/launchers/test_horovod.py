"""An elastic job of Horovod runs: its scripts as the pods' processes, with the real horovodrun, sshd and namespaces.

What starts here is Horovod's driver. Its ranks do not load Horovod, whose library needs a compiler: they say who they
are told to be, and hold.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from make import make_cluster, make_resolved
from mpijobs import deploy, discovered
from pods import SHARED, Pod, Pods, missing, pods, tried
from trainyard.render.kinds import Resolved, build

HOROVOD = os.environ.get("TRAINYARD_HOROVOD", "")
"""A folder with Horovod's Python package and what it imports, for python3 of this machine."""

DRIVER = """\
#!{python}
import sys
sys.path.insert(0, {folder!r})
import horovod.common.util
horovod.common.util.gloo_built = lambda verbose=False: True
from horovod.runner.launch import run_commandline
if __name__ == "__main__":
    run_commandline()
"""
"""Horovodrun, which asks the library that is not here whether it has gloo."""

PROGRAM = """\
import json, os, pathlib, signal, socket, sys, time, urllib.request

here = pathlib.Path(__file__).parent
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(time.monotonic()))
mine = {"host": socket.gethostname(), "arguments": sys.argv[1:], "cwd": os.getcwd(), "environment": dict(os.environ)}
name = f"rank-{os.environ['HOROVOD_RANK']}-{time.time_ns()}"
(here / name).with_suffix(".new").write_text(json.dumps(mine))
(here / name).with_suffix(".new").rename(here / f"{name}.json")
met = False
while "hold" in sys.argv and not told and not (here / "go").exists():
    time.sleep(0.05)
    if (here / "lost").exists() and not met:
        met = True
        env = os.environ
        server = f"http://{env['HOROVOD_GLOO_RENDEZVOUS_ADDR']}:{env['HOROVOD_GLOO_RENDEZVOUS_PORT']}"
        place = f"rank_and_size/{env['HOROVOD_HOSTNAME']}:{env['HOROVOD_LOCAL_RANK']}"
        answer = urllib.request.urlopen(f"{server}/{place}").read().decode()
        (here / f"again-{env['HOROVOD_RANK']}").write_text(answer)
if told:
    time.sleep(6)
    (here / f"saved-{os.environ['HOROVOD_RANK']}").write_text(f"{len(told)} times told")
    sys.exit(143)
"""


MORE = ("chmod", "env")
"""What the image of an elastic job needs beside what every MPIJob's does."""


def resolved(*args: str, **job: Any) -> Resolved:
    """Return an elastic MPIJob of three workers with two ranks each."""
    operators = {"kueue": {"version": "0.19.2"}, "mpi-operator": {"version": "0.8.2"}}
    size = {"nodes": 3, "min_nodes": 1, "pool": "cpu", "gpus_per_node": 0, "cpus_per_node": 2, "processes_per_node": 2}
    return make_resolved(
        kind="MPIJob",
        launcher="horovod",
        cluster=make_cluster(operators=operators),
        program="rank.py",
        working_dir=SHARED,
        args=list(args),
        **{**size, "env": {"GREETING": 'it\'s "two" words; $HOME'}, **job},
    )


@pytest.fixture
def world() -> Iterator[Pods]:
    """Pods, or a loud skip."""
    for what, lacks in (
        ("sshd", not Path("/usr/sbin/sshd").exists()),
        ("horovodrun", not HOROVOD or not Path(HOROVOD, "horovod", "runner").is_dir()),
    ):
        if lacks:
            pytest.skip(f"Horovod as processes: {what} is not installed (openssh-server, TRAINYARD_HOROVOD)")
    if why := missing() or tried("test", "-d", HOROVOD):
        pytest.skip(f"Horovod as processes: this needs {why}")
    with pods() as found:
        yield found


def begin(world: Pods, *args: str, alive: int = 15, **job: Any) -> tuple[Pod, list[Pod]]:
    """Start the launcher and the workers of a run, whose program is in the folder that they share.

    `alive` are the seconds after which a session asks whether the other side is there.
    """
    (world.shared / "rank.py").write_text(PROGRAM)
    launcher, workers = deploy(world, resolved(*args, **job), shutil.which("mpirun") or "/usr/bin/mpirun")
    for name in MORE:
        (world.folder / "bin" / name).symlink_to(shutil.which(name, path="/usr/bin:/bin") or "absent")
    own = world.folder / "bin" / "horovodrun"
    own.write_text(DRIVER.format(python=shutil.which("python3", path="/usr/bin"), folder=HOROVOD))
    own.chmod(0o755)
    (client := launcher.etc / "trainyard" / "ssh_config").write_text(
        client.read_text().replace("ServerAliveInterval 15", f"ServerAliveInterval {alive}")
    )
    for pod in (launcher, *workers):
        pod.start()
    return launcher, workers


def ranks(world: Pods) -> list[dict[str, Any]]:
    """Return what ranks have written, oldest first."""
    files = sorted(world.shared.glob("rank-*.json"), key=lambda path: int(path.stem.split("-")[2]))
    return [json.loads(path.read_text()) for path in files]


pytestmark = [pytest.mark.mpi, pytest.mark.slow]


def test_ranks_lie_as_the_pods_do(world):
    """Every rank is told its number, in the order of the hostfile, and has the environment of its container."""
    launcher, workers = begin(world, "--rate", "a b")
    assert launcher.wait(120) == 0, launcher.output
    found = sorted(ranks(world), key=lambda rank: int(rank["environment"]["HOROVOD_RANK"]))
    assert [item["host"] for item in found] == [pod.name for pod in workers for _ in range(2)]
    for number, item in enumerate(found):
        env = item["environment"]
        wanted = {"HOROVOD_RANK": str(number), "HOROVOD_SIZE": "6", "HOROVOD_LOCAL_RANK": str(number % 2)}
        wanted |= {"HOROVOD_LOCAL_SIZE": "2", "HOROVOD_CONTROLLER": "gloo", "HOROVOD_GLOO_IFACE": "eth0"}
        wanted |= {"K_MPI_JOB_ROLE": "worker", "OMP_NUM_THREADS": "1", "OF_THE_IMAGE": "a b"}
        wanted |= {"GREETING": 'it\'s "two" words; $HOME'}
        assert {name: env.get(name) for name in wanted} == wanted
        assert (item["arguments"], item["cwd"]) == (["--rate", "a b"], SHARED)


def test_a_job_that_is_told_to_end_saves_once(world):
    """Every rank is told once, has its time, though horovodrun gives five seconds, and the run has failed."""
    launcher, workers = begin(world, "hold")
    world.until(lambda: len(ranks(world)) == 6, "6 ranks hold", 120)
    for pod in (launcher, *workers):
        pod.tell(signal.SIGTERM)
    assert launcher.wait(120) == 143, launcher.output
    saved = {path.name: path.read_text() for path in sorted(world.shared.glob("saved-*"))}
    assert saved == {f"saved-{rank}": "1 times told" for rank in range(6)}
    assert [pod.wait() for pod in workers] == [0, 0, 0]


def test_a_lost_worker_leaves_the_others_to_go_on(world):
    """The driver hears of a node that died, and gives those that are left their numbers anew.

    They ask it for them as Horovod's library does when a collective has failed (common/gloo/gloo_context.cc).
    """
    launcher, workers = begin(world, "hold", alive=1)
    world.until(lambda: len(ranks(world)) == 6, "6 ranks hold", 120)
    workers[0].lose()
    hosts = launcher.etc / "mpi" / "discover_hosts.sh"
    hosts.write_text(discovered(workers[0].name.removesuffix("-worker-0"), [pod.name for pod in workers[1:]]))
    (world.shared / "lost").touch()
    again = [world.shared / f"again-{rank}" for rank in range(2, 6)]
    world.until(lambda: all(path.exists() and path.read_text() for path in again), "4 ranks are told anew", 120)
    told = [path.read_text().split(",")[:2] for path in again]
    assert told == [[str(rank), "4"] for rank in range(4)]
    (world.shared / "go").touch()
    assert launcher.wait(120) == 0, launcher.output


def test_a_worker_is_revealed_after_those_before_it(tmp_path):
    """The script names one worker more at each call, in the order of the hostfile, and none that does not run."""
    run = resolved(nodes=12)
    config = next(item.value() for item in build(run) if item.value()["kind"] == "ConfigMap")
    names = [f"{run.run.name}-worker-{index}" for index in range(12)]
    (tmp_path / "hostfile").write_text("".join(f"{name}.{run.run.name}.nlp.svc slots=2\n" for name in names))
    (tmp_path / "discover_hosts.sh").write_text(discovered(run.run.name, [*names[:3], *names[4:]]))
    script = next(text for name, text in config["data"].items() if name.endswith("discover.sh"))
    script = script.replace("/etc/mpi", str(tmp_path)).replace("/tmp/.known", str(tmp_path / "known"))
    for call in range(1, 14):
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
        there = [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11][:call]
        assert done.stdout.split() == [f"{names[index]}.{run.run.name}.nlp.svc:2" for index in there]
