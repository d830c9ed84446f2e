"""A rendered MPIJob runs: its scripts as the pods' processes, with real sshd and mpirun, in namespaces of Linux."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from make import make_cluster, make_resolved
from mpijobs import deploy
from pods import SHARED, Pod, Pods, missing, pods, tried
from trainyard.render.kinds import Resolved

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

SSHD = "/usr/sbin/sshd"
RELEASES = {
    "Open MPI of this machine": shutil.which("mpirun", path="/usr/local/bin:/usr/bin:/bin"),
    "Open MPI of the wheel": shutil.which("mpirun", path=str(Path(sys.executable).parent)),
}

PROGRAM = """\
import ctypes, json, os, pathlib, signal, socket, sys, time

here = pathlib.Path(__file__).parent
mpi = ctypes.CDLL(os.environ["LIBMPI"], ctypes.RTLD_GLOBAL)
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(time.monotonic()))


def handle(name):
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, name)))


world, integer, plus = (handle(f"ompi_{name}") for name in ("mpi_comm_world", "mpi_int", "mpi_op_sum"))
mpi.MPI_Init(None, None)
rank, size, total = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(size))
mpi.MPI_Allreduce(ctypes.byref(ctypes.c_int(rank.value + 1)), ctypes.byref(total), 1, integer, plus, world)
mine = {"rank": rank.value, "size": size.value, "sum": total.value, "host": socket.gethostname(), "pid": os.getpid()}
mine |= {"cwd": os.getcwd(), "arguments": sys.argv[1:], "environment": dict(os.environ)}
name = f"rank-{rank.value}-{time.time_ns()}"
(here / name).with_suffix(".new").write_text(json.dumps(mine))
(here / name).with_suffix(".new").rename(here / f"{name}.json")
while "hold" in sys.argv and not told and not (here / "go").exists():
    time.sleep(0.05)
if told:
    time.sleep(2)
    (here / f"saved-{rank.value}").write_text(f"{len(told)} times told")
    sys.exit(mpi.MPI_Finalize() if "finalize" in sys.argv else 0)
if "fail" in sys.argv and rank.value == size.value - 1:
    sys.exit(7)
mpi.MPI_Finalize()
"""


@pytest.fixture(params=RELEASES.values(), ids=RELEASES)
def mpirun(request) -> str:
    """An mpirun of this machine, or a loud skip."""
    for what, lacks in (
        ("Open MPI", request.param is None),
        ("sshd", not Path(SSHD).exists()),
        ("ssh-keygen", shutil.which("ssh-keygen") is None),
    ):
        if lacks:
            pytest.skip(f"an MPIJob as processes: {what} is not installed (openmpi-bin, openssh-server)")
    if why := missing():
        pytest.skip(f"an MPIJob as processes: this needs {why}")
    found: str = request.param
    if why := tried("test", "-x", found):
        pytest.skip(f"an MPIJob as processes: no pod finds {found}: {why.splitlines()[-1]}")
    return found


@pytest.fixture
def world() -> Iterator[Pods]:
    """Pods, which are gone when the test ends."""
    with pods() as found:
        yield found


def resolved(*args: str, **job: Any) -> Resolved:
    """Return an MPIJob of two workers with two ranks each."""
    operators = {"kueue": {"version": "0.19.2"}, "mpi-operator": {"version": "0.8.2"}}
    size = {"nodes": 2, "pool": "cpu", "gpus_per_node": 0, "cpus_per_node": 2, "processes_per_node": 2}
    return make_resolved(
        kind="MPIJob",
        launcher="mpirun",
        cluster=make_cluster(operators=operators),
        program="rank.py",
        working_dir=SHARED,
        args=list(args),
        **{**size, "env": {"GREETING": 'it\'s "two" words; $HOME\n`and` a line'}, **job},
    )


def ranks(world: Pods) -> list[dict[str, Any]]:
    """Return what ranks have written, oldest first."""
    return [json.loads(path.read_text()) for path in sorted(world.shared.glob("rank-*.json"), key=written)]


def written(path: Path) -> int:
    """Return when a rank wrote."""
    return int(path.stem.split("-")[2])


def begin(world: Pods, mpirun: str, *args: str, **job: Any) -> tuple[Pod, list[Pod]]:
    """Start the launcher and the workers of a run, whose program is in the folder that they share."""
    (world.shared / "rank.py").write_text(PROGRAM)
    launcher, workers = deploy(world, resolved(*args, **job), mpirun)
    for pod in (launcher, *workers):
        pod.start()
    return launcher, workers


def test_ranks_start_on_their_workers(world, mpirun):
    """The launcher waits for workers; ranks have the container's environment, meet over the pods' network, and end."""
    (world.shared / "rank.py").write_text(PROGRAM)
    launcher, workers = deploy(world, resolved("--rate", "a b"), mpirun)
    launcher.start()
    workers[0].start()
    with pytest.raises(AssertionError, match="still runs"):
        launcher.wait(3)
    workers[1].start()
    assert launcher.wait() == 0, launcher.output
    found = sorted(ranks(world), key=lambda rank: rank["rank"])
    assert [item["rank"] for item in found] == [0, 1, 2, 3]
    assert {(item["size"], item["sum"], item["cwd"]) for item in found} == {(4, 10, SHARED)}
    assert [item["host"] for item in found] == [workers[0].name] * 2 + [workers[1].name] * 2
    for item in found:
        assert item["arguments"] == ["--rate", "a b"]
        env = item["environment"]
        wanted = {"HOME": "/tmp", "GREETING": 'it\'s "two" words; $HOME\n`and` a line', "OF_THE_IMAGE": "a b"}
        wanted |= {"MASTER_ADDR": f"{workers[0].name}.{workers[0].name.removesuffix('-worker-0')}"}
        wanted |= {"K_MPI_JOB_ROLE": "worker", "OMP_NUM_THREADS": "1"}
        assert {name: env.get(name) for name in wanted} == wanted


def test_the_exit_code_comes_out(world, mpirun):
    """The launcher ends as the rank that failed."""
    launcher, _ = begin(world, mpirun, "fail")
    assert launcher.wait() == 7, launcher.output


def test_an_mpirun_that_says_all_is_well_is_not_believed(world, mpirun):
    """The run is done when every rank says that it ended well; no rank ever ran here."""
    launcher, workers = deploy(world, resolved(), mpirun)
    (own := world.folder / "bin" / "mpirun").unlink()
    own.symlink_to(shutil.which("true") or "absent")
    for pod in (launcher, *workers):
        pod.start()
    assert launcher.wait() == 1
    assert f"not all ranks of {workers[0].name}" in launcher.output


def holding(world: Pods, count: int = 4) -> None:
    """Wait for ranks that hold."""
    world.until(lambda: len(ranks(world)) >= count, f"{count} ranks hold")


def saved(world: Pods) -> dict[str, str]:
    """Return how often each rank that saved was told to end."""
    return {path.name: path.read_text() for path in sorted(world.shared.glob("saved-*"))}


def test_a_launcher_that_is_told_to_end_lets_ranks_save(world, mpirun):
    """Every rank is told once, however many pods are told, and the run has failed: it is not done.

    Ranks finalize, as mpi4py and Horovod see to: mpirun ends the others when one leaves without.
    """
    launcher, workers = begin(world, mpirun, "hold", "finalize")
    holding(world)
    for pod in (launcher, *workers):
        pod.tell(signal.SIGTERM)
    assert launcher.wait() == 143
    assert saved(world) == {f"saved-{rank}": "1 times told" for rank in range(4)}
    assert [pod.wait() for pod in workers] == [0, 0]


def test_a_worker_that_is_told_to_end_lets_its_ranks_save(world, mpirun):
    """A drained node's ranks save, and the launcher fails, to be started again."""
    launcher, workers = begin(world, mpirun, "hold")
    holding(world)
    workers[1].tell(signal.SIGTERM)
    assert workers[1].wait() == 0
    assert {"saved-2", "saved-3"} <= saved(world).keys()
    assert launcher.wait() != 0


def test_a_worker_whose_container_ends_is_found_by_the_next_launcher(world, mpirun):
    """What the kernel kills for its memory is restarted in its place, and the launcher after it starts all ranks."""
    launcher, workers = begin(world, mpirun, "hold")
    holding(world)
    workers[1].tell(signal.SIGKILL)
    assert workers[1].wait() != 0
    assert launcher.wait() != 0, "mpirun of release 5 may end with 0, which is not the run's end"
    launcher.start()
    workers[1].start()
    holding(world, 8)
    (world.shared / "go").touch()
    assert launcher.wait() == 0, launcher.output


def test_ranks_of_a_launcher_that_is_lost_are_gone_before_the_next_begin(world, mpirun):
    """Two attempts never train at once: a launcher's node that dies leaves ranks behind, which do not know."""
    launcher, _ = begin(world, mpirun, "hold", grace_seconds=4)
    holding(world)
    launcher.lose()
    again = deploy_again(world, launcher).start()
    holding(world, 8)
    assert set(saved(world)) == {f"saved-{rank}" for rank in range(4)}
    (world.shared / "go").touch()
    assert again.wait() == 0, again.output


def deploy_again(world: Pods, pod: Pod) -> Pod:
    """Return a pod like one that is lost, on another node."""
    folder = {name: texts(pod.etc / name) for name in ("trainyard", "ssh-keys", "mpi")}
    return world.add(pod.name, pod.template, hosts=[f"{pod.name}-2"], files=folder, env=pod.env)


def texts(folder: Path) -> dict[str, str]:
    """Return the files of a folder."""
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_an_image_without_the_user_is_named_at_once(world, mpirun):
    """Ssh asks who it is before anything else; waiting for workers would hide that for half an hour."""
    launcher, _ = deploy(world, resolved(), mpirun)
    (launcher.etc / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    assert launcher.start().wait(10) == 1
    assert "No user exists for uid 1000" in launcher.output


def test_a_launcher_gives_up_on_workers_that_never_come(world, mpirun):
    """It does not wait for ever: an evicted worker is never made anew, while the others would be held."""
    (world.shared / "rank.py").write_text(PROGRAM)
    launcher, workers = deploy(world, resolved(grace_seconds=1), mpirun)
    script = launcher.container["command"][2]
    assert "1800" in script
    launcher.template["spec"]["containers"][0]["command"][2] = script.replace("1800", "4")
    workers[0].start()
    launcher.start()
    assert launcher.wait() == 1
    assert workers[1].name in launcher.output


@pytest.mark.parametrize(("user", "expected"), [(0, ["run/mpirun-root"]), (1000, []), (None, [])])
def test_root_is_told_that_its_ssh_refuses_the_key(user, expected):
    """A key that others may read is refused by whoever owns it, and the operator's is root's."""
    run = make_resolved(
        launcher="mpirun",
        kind="MPIJob",
        cluster=make_cluster(operators={"mpi-operator": {"version": "0.8.2"}}),
        run_as_user=user,
    )
    assert [found.rule for found in run.launcher.check(run.run)] == expected
