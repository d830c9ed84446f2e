"""A rendered Ray cluster runs: what KubeRay would start in its pods, with real Ray, in namespaces of Linux."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from make import make_cluster, make_resolved
from pods import SHARED, Pod, Pods, missing, pods, tried
from trainyard.base.quantities import Quantity
from trainyard.render.kinds import Resolved, build

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]

LONG = 240
"""Seconds after which what a busy machine has not done is not done."""

RAY = os.environ.get("TRAINYARD_RAY") or shutil.which("ray")
"""Ray with its dashboard and Ray Train: `ray[default,train]`."""

JOB_ID = "submitted"

PROGRAM = """\
import json, os, pathlib, socket, sys, time

import ray
import ray.train
from ray.train import FailureConfig, RunConfig, ScalingConfig
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

here = pathlib.Path(__file__).parent


def note(name, **more):
    (here / f"{name}.new").write_text(json.dumps({"host": socket.gethostname(), **more}))
    (here / f"{name}.new").rename(here / f"{name}.json")


def train(config):
    context, start = ray.train.get_context(), 0
    rank, told = context.get_world_rank(), False
    while (here / f"rank-{rank}-{start}.json").exists():
        start += 1
    note(f"rank-{rank}-{start}", rank=rank, size=context.get_world_size(), environment=dict(os.environ))
    while start < config["holds"]:
        warned = ray.train.get_preemption_info()
        if warned is not None and not told:
            note(f"told-{rank}", left=warned.deadline_ms / 1000 - time.time())
            told = True
        time.sleep(0.2)


number = len(list(here.glob("driver-*.json")))
note(f"driver-{number}", arguments=sys.argv[1:], cwd=os.getcwd(), environment=dict(os.environ))
if number < int(os.environ["FAILS"]):
    sys.exit(3)
DataParallelTrainer(
    train,
    train_loop_config={"holds": int(os.environ["HOLDS"])},
    scaling_config=ScalingConfig(
        num_workers=int(os.environ["TRAIN_WORKERS"]),
        resources_per_worker={"CPU": float(os.environ["TRAIN_WORKER_CPUS"])},
    ),
    run_config=RunConfig(
        storage_path=str(here / "storage"),
        failure_config=FailureConfig(max_failures=int(os.environ["TRAIN_MAX_FAILURES"])),
    ),
).fit()
note("done-0")
"""
"""Ranks of the first starts hold on until they are ended, so many starts as the job's environment says."""


@pytest.fixture(scope="module")
def ray() -> str:
    """The program `ray`, or a loud skip."""
    if RAY is None:
        pytest.skip("Ray as processes: ray[default,train] is not installed, and TRAINYARD_RAY names none")
    if why := missing():
        pytest.skip(f"Ray as processes: this needs {why}")
    if why := tried(RAY, "--version"):
        pytest.skip(f"Ray as processes: no pod can run {RAY}: {why.splitlines()[-1]}")
    return RAY


@pytest.fixture
def world() -> Iterator[Pods]:
    """Pods, which are gone when the test ends."""
    with pods() as found:
        yield found


def resolved(kind: str, *, holds: int = 0, fails: int = 0, **job: Any) -> Resolved:
    """Return a run of two workers, each with two processes of one CPU."""
    operators = {"kueue": {"version": "0.19.2"}, "kuberay": {"version": "1.6.2"}}
    size = {"nodes": 2, "pool": "cpu", "gpus_per_node": 0, "cpus_per_node": 2, "memory_per_node": "2Gi"}
    return make_resolved(
        kind=kind,
        launcher="ray",
        cluster=make_cluster(operators=operators),
        program="driver.py",
        working_dir=SHARED,
        env={"HOLDS": str(holds), "FAILS": str(fails)},
        roles={"head": {"cpusPerNode": 1, "memoryPerNode": "2Gi"}},
        **{**size, "processes_per_node": 2, "max_hours": 1, **job},
    )


def start_command(group: Mapping[str, Any], *, head: str | None) -> str:
    """Return `ray start` as the operator writes it (kuberay v1.6.2 generateRayStartCommand); `head` is for workers."""
    limits = group["template"]["spec"]["containers"][0]["resources"]["limits"]
    derived = {
        **({"dashboard-host": "0.0.0.0"} if head is None else {"address": f"{head}:6379"}),
        "metrics-export-port": "8080",
        "dashboard-agent-listen-port": "52365",
        "num-cpus": limits["cpu"],
        "memory": str(Quantity.parse(limits["memory"]).value()),
    }
    flags = {**derived, **group["rayStartParams"]}
    words = [*(f"--{name}={value}" for name, value in sorted(flags.items())), "--block"]
    return " ".join(["ray start", *(["--head"] if head is None else []), *words])


def completed(group: Mapping[str, Any], *, head: str | None) -> dict[str, Any]:
    """Return the pod template with what its container runs: a command of ours comes first, in the same shell."""
    template: dict[str, Any] = json.loads(json.dumps(group["template"]))
    (container,) = template["spec"]["containers"]
    before = "".join(f" {word} " for word in [*container.get("command", ()), *container.get("args", ())])
    line = f"ulimit -n 65536; {start_command(group, head=head)}"
    container["command"] = ["/bin/bash", "-c", "--", f"{before} && {line}" if before else line]
    return template


def submit_command(entrypoint: str, address: str) -> str:
    """Return what the submitter runs (kuberay v1.6.2 BuildJobSubmitCommand)."""
    at = f"--address http://{address}:8265"
    there = f"ray job status {at} {JOB_ID} >/dev/null 2>&1"
    submit = f"ray job submit {at} --no-wait --submission-id {JOB_ID} -- {entrypoint}"
    return f"if ! {there} ; then {submit} ; fi ; ray job logs {at} --follow {JOB_ID}"


class Deployed:
    """A run's pods, as the operator would make them."""

    def __init__(self, world: Pods, run: Resolved, ray: str) -> None:
        """Make the pods without starting them."""
        value, config = (item.value() for item in build(run))
        self.world, self.name = world, value["metadata"]["name"]
        self.spec = value["spec"]
        cluster = self.spec.get("rayClusterSpec", self.spec)
        self.service = f"{self.name}-head-svc.nlp.svc.cluster.local"
        tools = os.pathsep.join([str(Path(ray).parent), "/usr/bin", "/bin"])
        self.env = {"PATH": tools, "PYTHONDONTWRITEBYTECODE": "1"}
        self.files = {"trainyard": {key.removeprefix("launch."): text for key, text in config["data"].items()}}
        head, (group,) = cluster["headGroupSpec"], cluster["workerGroupSpecs"]
        self.head = self.add("head", completed(head, head=None), {"RAY_ADDRESS": "127.0.0.1:6379"}, self.service)
        worker, seen = completed(group, head=self.service), {"RAY_ADDRESS": f"{self.service}:6379"}
        self.workers = [self.add(f"worker-{index}", worker, seen) for index in range(group["replicas"])]
        self.made = 0

    def add(self, name: str, template: Mapping[str, Any], env: Mapping[str, str], *hosts: str) -> Pod:
        """Make one pod."""
        host = f"{self.name}-{name}"
        return self.world.add(host, template, hosts=[*hosts, host], files=self.files, env={**self.env, **env})

    def begin(self) -> None:
        """Start the head, then the workers, which wait for it, until their own probes say that they are ready."""
        for several in ([self.head], self.workers):
            for pod in several:
                pod.start()
            for pod in several:
                self.world.until(lambda pod=pod: self.ready(pod, "readinessProbe"), f"{pod.name} is ready", LONG)
                self.world.until(lambda pod=pod: self.ready(pod, "livenessProbe"), f"{pod.name} is alive", LONG)

    def ready(self, pod: Pod, probe: str) -> bool:
        """Whether a probe succeeds; meanwhile containers that have ended are started again, as their policy says.

        A busy machine does not start a raylet within Ray's thirty seconds.
        """
        for worker in (self.head, *self.workers):
            if worker.process is not None and worker.process.poll() is not None:
                assert worker.template["spec"]["restartPolicy"] == "Always"
                worker.start()
        return ready(pod, probe)

    def submitter(self) -> Pod:
        """Return the pod that submits the driver, started."""
        template = json.loads(json.dumps(self.spec["submitterPodTemplate"]))
        (container,) = template["spec"]["containers"]
        container["command"] = ["/bin/bash", "-ce", "--", submit_command(self.spec["entrypoint"], self.service)]
        self.made += 1
        return self.add(f"submitter-{self.made}", template, {}).start()


def ready(pod: Pod, probe: str) -> bool:
    """Whether a probe of a pod's container succeeds, as the kubelet would find."""
    get = pod.container[probe]["httpGet"]
    code = f"import urllib.request; urllib.request.urlopen('http://127.0.0.1:{get['port']}{get['path']}', timeout=5)"
    command = ["ip", "netns", "exec", pod.space, shutil.which("python3") or "python3", "-c", code]
    return subprocess.run(command, capture_output=True).returncode == 0


def notes(world: Pods, what: str) -> list[dict[str, Any]]:
    """Return what the program has left word of, in the order of its names."""
    return [json.loads(path.read_text()) for path in sorted(world.shared.glob(f"{what}-*.json"))]


def deploy(world: Pods, ray: str, run: Resolved) -> Deployed:
    """Return the started pods of a run, whose program is in the folder that they share."""
    (world.shared / "driver.py").write_text(PROGRAM)
    found = Deployed(world, run, ray)
    found.begin()
    return found


def test_a_rayjob_trains_on_all_of_its_workers(world, ray):
    """The submitter's end is the driver's; ranks are as many as explain says, and as many a pod as a job says."""
    run = resolved("RayJob", args=["--rate", "a b", "$(RUN_NAME)", "it's $HOME"])
    found = deploy(world, ray, run)
    assert found.submitter().wait(LONG) == 0, found.head.output
    (size,) = [sized.value for name, sized in run.facts() if name == "world_size"]
    ranks = notes(world, "rank")
    assert sorted(rank["rank"] for rank in ranks) == list(range(size)) == [0, 1, 2, 3]
    assert {rank["size"] for rank in ranks} == {size}
    hosts = [rank["host"] for rank in ranks]
    assert {name: hosts.count(name) for name in hosts} == {pod.name: 2 for pod in found.workers}
    (driver,) = notes(world, "driver")
    assert driver["host"] == found.head.name
    assert driver["arguments"] == ["--rate", "a b", run.run.name, "it's $HOME"]
    assert driver["cwd"] == SHARED
    assert {rank["environment"]["CHECKPOINT_GRACE_SECONDS"] for rank in (driver, *ranks)} == {"25"}
    assert {rank["environment"]["OMP_NUM_THREADS"] for rank in ranks} == {"1"}
    assert "using /tmp" not in found.head.output + "".join(pod.output for pod in found.workers)
    assert notes(world, "done")


def test_a_worker_that_is_drained_costs_no_new_driver(world, ray):
    """Its ranks are told how long they have, it ends in that time, and Ray Train starts them again on the next pod."""
    found = deploy(world, ray, resolved("RayJob", holds=1, nodes=1, restarts=2, grace_seconds=30))
    submitter = found.submitter()
    world.until(lambda: len(notes(world, "rank")) == 2, "ranks train", LONG)
    began = time.monotonic()
    found.workers[0].tell(signal.SIGTERM)
    found.workers[0].wait(60)
    assert time.monotonic() - began < 30
    assert all(10 < note["left"] <= 25 for note in notes(world, "told"))
    assert len(notes(world, "told")) == 2
    seen = {"RAY_ADDRESS": f"{found.service}:6379"}
    again = found.add("worker-again", found.workers[0].template, seen).start()
    assert submitter.wait(LONG) == 0, found.head.output
    assert [note["host"] for note in notes(world, "rank")].count(again.name) == 2
    assert len(notes(world, "driver")) == 1


def test_a_raycluster_starts_its_driver_itself(world, ray):
    """The head submits it, again when it fails, and stays when it has ended."""
    found = deploy(world, ray, resolved("RayCluster", fails=1, restarts=1, nodes=1))
    world.until(lambda: bool(notes(world, "done")), "the driver is done", LONG)
    assert len(notes(world, "driver")) == 2
    world.until(lambda: "the cluster stays until its run is retired" in found.head.output, "the head says so")
    assert found.head.process is not None
    assert found.head.process.poll() is None
