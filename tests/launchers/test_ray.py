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
from trainyard.kinds import Resolved, build
from trainyard.quantities import Quantity

pytestmark = [pytest.mark.ray, pytest.mark.slow]

RAY = os.environ.get("TRAINYARD_RAY") or shutil.which("ray")
"""Ray with its dashboard and Ray Train: `ray[default,train]`."""

JOB_ID = "submitted"

PROGRAM = """\
import json, os, pathlib, signal, socket, sys, time

import ray
import ray.train
from ray.train import FailureConfig, RunConfig, ScalingConfig
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

here = pathlib.Path(__file__).parent


def note(name, **more):
    (here / f"{name}.new").write_text(json.dumps({"host": socket.gethostname(), "pid": os.getpid(), **more}))
    (here / f"{name}.new").rename(here / f"{name}.json")


def train():
    context, attempt = ray.train.get_context(), 0
    rank, size = context.get_world_rank(), context.get_world_size()
    while (here / f"rank-{rank}-{attempt}.json").exists():
        attempt += 1
    node = ray.get_runtime_context().get_node_id()
    found = {"rank": rank, "size": size, "node": node, "environment": dict(os.environ)}
    note(f"rank-{rank}-{attempt}", **found)
    while "hold" in sys.argv and attempt == 0 and not (here / "go").exists():
        told = ray.train.get_preemption_info()
        if told is not None:
            note(f"told-{rank}", left=told.deadline_ms / 1000 - time.time())
            break
        time.sleep(0.2)
    if told_to_fail := "fail" in sys.argv and attempt == 0:
        raise RuntimeError("as asked")


attempt = len(list(here.glob("driver-*.json")))
note(f"driver-{attempt}", arguments=sys.argv[1:], cwd=os.getcwd(), environment=dict(os.environ))
if "give up" in sys.argv and attempt == 0:
    sys.exit(3)
each = {"CPU": float(os.environ["TRAIN_WORKER_CPUS"])}
DataParallelTrainer(
    train,
    scaling_config=ScalingConfig(num_workers=int(os.environ["TRAIN_WORKERS"]), resources_per_worker=each),
    run_config=RunConfig(
        storage_path=str(here / "storage"),
        failure_config=FailureConfig(max_failures=int(os.environ["TRAIN_MAX_FAILURES"])),
    ),
).fit()
note(f"done-{attempt}")
"""


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


def resolved(kind: str, *args: str, **job: Any) -> Resolved:
    """Return a run of two workers, each with two processes of one CPU."""
    operators = {"kueue": {"version": "0.19.2"}, "kuberay": {"version": "1.6.2"}}
    size = {"nodes": 2, "pool": "cpu", "gpus_per_node": 0, "cpus_per_node": 2, "memory_per_node": "2Gi"}
    return make_resolved(
        kind=kind,
        launcher="ray",
        cluster=make_cluster(operators=operators),
        program="driver.py",
        working_dir=SHARED,
        args=list(args),
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
        value, config = (each.value() for each in build(run))
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
        """Start head and workers, and wait until their own probes say that they are ready."""
        self.head.start()
        for pod in self.workers:
            pod.start()
        for pod in (self.head, *self.workers):
            self.world.until(lambda pod=pod: ready(pod, "readinessProbe"), f"{pod.name} is ready", 120)
            self.world.until(lambda pod=pod: ready(pod, "livenessProbe"), f"{pod.name} is alive", 120)

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


def deploy(world: Pods, ray: str, kind: str, *args: str, **job: Any) -> tuple[Deployed, Resolved]:
    """Return the started pods of a run, whose program is in the folder that they share."""
    (world.shared / "driver.py").write_text(PROGRAM)
    run = resolved(kind, *args, **job)
    found = Deployed(world, run, ray)
    found.begin()
    return found, run


def test_a_rayjob_trains_on_all_of_its_workers(world, ray):
    """The submitter's end is the driver's; ranks are as many as explain says, and as many a pod as a job says."""
    words = ["--rate", "a b", "$(RUN_NAME)", "it's $HOME"]
    found, run = deploy(world, ray, "RayJob", *words)
    assert found.submitter().wait(180) == 0, found.head.output
    (size,) = [sized.value for name, sized in run.facts() if name == "world_size"]
    ranks = notes(world, "rank")
    assert sorted(each["rank"] for each in ranks) == list(range(size)) == [0, 1, 2, 3]
    assert {each["size"] for each in ranks} == {size}
    hosts = [each["host"] for each in ranks]
    assert {name: hosts.count(name) for name in hosts} == {pod.name: 2 for pod in found.workers}
    (driver,) = notes(world, "driver")
    assert driver["host"] == found.head.name
    assert driver["arguments"] == ["--rate", "a b", run.run.name, "it's $HOME"]
    assert driver["cwd"] == SHARED
    assert {each["environment"]["CHECKPOINT_GRACE_SECONDS"] for each in (driver, *ranks)} == {"25"}
    assert {each["environment"]["OMP_NUM_THREADS"] for each in ranks} == {"1"}
    assert "using /tmp" not in found.head.output + "".join(pod.output for pod in found.workers)
    assert notes(world, "done")


def test_a_worker_that_is_lost_costs_no_new_driver(world, ray):
    """Its pod is made anew, and Ray Train starts the ranks again on it."""
    found, _ = deploy(world, ray, "RayJob", "hold", nodes=1, restarts=2)
    submitter = found.submitter()
    world.until(lambda: len(notes(world, "rank")) == 2, "ranks train", 120)
    found.workers[0].lose()
    again = found.add("worker-again", found.workers[0].template, {"RAY_ADDRESS": f"{found.service}:6379"})
    again.start()
    assert submitter.wait(240) == 0, found.head.output
    assert {each["host"] for each in notes(world, "rank")} == {found.workers[0].name, again.name}
    assert len(notes(world, "driver")) == 1


def test_a_program_is_told_that_its_pod_ends(world, ray):
    """SIGTERM reaches Ray, which tells the program how long it has, and ends when that is over."""
    found, _ = deploy(world, ray, "RayJob", "hold", nodes=1, grace_seconds=30)
    found.submitter()
    world.until(lambda: len(notes(world, "rank")) == 2, "ranks train", 120)
    began = time.monotonic()
    found.workers[0].tell(signal.SIGTERM)
    world.until(lambda: len(notes(world, "told")) == 2, "ranks are told", 30)
    assert all(10 < each["left"] <= 25 for each in notes(world, "told"))
    found.workers[0].wait(60)
    assert time.monotonic() - began < 30


def test_a_raycluster_starts_its_driver_itself(world, ray):
    """The head submits it, again when it fails, and stays when it has ended."""
    found, _ = deploy(world, ray, "RayCluster", "give up", restarts=1)
    world.until(lambda: bool(notes(world, "done")), "the driver is done", 180)
    assert len(notes(world, "driver")) == 2
    world.until(lambda: "the cluster stays until its run is retired" in found.head.output, "the head says so")
    assert found.head.process is not None
    assert found.head.process.poll() is None
