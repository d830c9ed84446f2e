"""Rendered objects run as processes: pods meet, volumes stay, policies decide, nothing is left behind."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from trainyard.faces.local import RunError, work_of
from trainyard.faces.local.progress import Progress
from trainyard.faces.local.saves import Saves
from trainyard.faces.local.secrets import secret_objects
from trainyard.faces.local.session import Session
from trainyard.faces.local.spaces import linux
from trainyard.faces.local.steps import Steps, target

HERE = Path(__file__).parent
PYTHON = sys.executable
Lines = list[tuple[str, str]]


@pytest.fixture(params=["namespaces", "plain"])
def plain(request) -> bool:
    """Both ways in which pods run, or a loud skip."""
    if request.param == "namespaces" and (why := linux.possible()):
        pytest.skip(f"pods as namespaces of Linux: {why}")
    return bool(request.param == "plain")


def run(objects: list[dict[str, Any]], folder: Path, *, plain: bool, **more: Any) -> tuple[bool, Lines]:
    """Run what the objects are, and return whether it went well and every line, with who said it."""
    (work,) = work_of(objects)
    lines: Lines = []
    paths = {"/programs": HERE / "programs"}
    session = Session(
        work,
        lambda pod, text: lines.append((f"{pod.role}-{pod.index}" if pod else "", text)),
        state=folder / "state",
        workdir=folder,
        paths=paths,
        plain=plain,
        grace=5,
        **more,
    )
    return session.run(), lines


def program(name: str, *arguments: str, container: str = "main", **more: Any) -> dict[str, Any]:
    """Return a pod's template with one container that runs a program of ours."""
    own = {"name": container, "image": "none", "command": [PYTHON, f"/programs/{name}.py"], "args": list(arguments)}
    return {"spec": {"containers": [own], **more}}


def thing(api_version: str, kind: str, name: str, **spec: Any) -> dict[str, Any]:
    """Return an object."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "nlp"}, "spec": spec}


def job(template: dict[str, Any], count: int = 2, **spec: Any) -> dict[str, Any]:
    """Return an indexed Job."""
    template["spec"].setdefault("restartPolicy", "Never")
    counts = {"completions": count, "parallelism": count, "completionMode": "Indexed"}
    return thing("batch/v1", "Job", "it", **{**counts, "template": template, **spec})


def jobset(template: dict[str, Any], count: int = 2, *, backoff: int = 0, **spec: Any) -> dict[str, Any]:
    """Return a JobSet of one replicated job whose pods do not start again by themselves."""
    template["spec"].setdefault("restartPolicy", "Never")
    inner = {"backoffLimit": backoff, "completions": count, "parallelism": count, "template": template}
    replicated = [{"name": "w", "template": {"spec": inner}}]
    return thing("jobset.x-k8s.io/v1alpha2", "JobSet", "it", replicatedJobs=replicated, **spec)


def replicas(kind: str, field: str, container: str, *arguments: str, **roles: int) -> dict[str, Any]:
    """Return a job of the training operator whose replicas meet."""
    found = {
        role: {"replicas": count, "template": program("meet", *arguments, container=container)}
        for role, count in roles.items()
    }
    return thing("kubeflow.org/v1", kind, "it", **{field: found})


def service(name: str, **selector: str) -> dict[str, Any]:
    """Return a headless Service."""
    return thing(
        "v1", "Service", name, clusterIP="None", selector={key.replace("_", "-"): selector[key] for key in selector}
    )


def trains(policy: str, *arguments: str) -> list[dict[str, Any]]:
    """Return a TrainJob of two nodes with its runtime."""
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    node = {
        "name": "node",
        "template": {"metadata": {"labels": labels}, "spec": {"template": program("x", container="node")}},
    }
    runtime = thing(
        "trainer.kubeflow.org/v1alpha1",
        "TrainingRuntime",
        "mine",
        mlPolicy={"numNodes": 1, policy: {}},
        template={"spec": {"replicatedJobs": [node]}},
    )
    trainer = {"numNodes": 2, "command": [PYTHON, "/programs/meet.py"], "args": list(arguments)}
    ref = {"kind": "TrainingRuntime", "name": "mine"}
    return [runtime, thing("trainer.kubeflow.org/v1alpha1", "TrainJob", "it", runtimeRef=ref, trainer=trainer)]


def volcano(plugins: dict[str, list[str]], **tasks: int) -> dict[str, Any]:
    """Return a Volcano Job whose tasks meet."""
    found = [
        {"name": name, "replicas": count, "template": program("meet", restartPolicy="Never")}
        for name, count in tasks.items()
    ]
    return thing(
        "batch.volcano.sh/v1alpha1", "Job", "it", plugins=plugins, tasks=found, minAvailable=sum(tasks.values())
    )


def elastic() -> dict[str, Any]:
    """Return an elastic PyTorchJob."""
    found = replicas("PyTorchJob", "pytorchReplicaSpecs", "pytorch", "2", Worker=2)
    found["spec"]["elasticPolicy"] = {"minReplicas": 1, "maxReplicas": 2}
    return found


def lws() -> dict[str, Any]:
    """Return a LeaderWorkerSet of one group."""
    template = {"size": 2, "workerTemplate": program("meet")}
    return thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "it", replicas=1, leaderWorkerTemplate=template)


MEETING: dict[str, tuple[Callable[[], Any], int]] = {
    "a Job below a Service": (
        lambda: [job(program("meet", "2", "it-0.there", subdomain="there")), service("there", job_name="it")],
        2,
    ),
    "a JobSet": (lambda: jobset(program("meet", "2", "it-w-0-0.it")), 2),
    "a PyTorchJob": (lambda: replicas("PyTorchJob", "pytorchReplicaSpecs", "pytorch", Master=1, Worker=2), 3),
    "an elastic PyTorchJob": (elastic, 2),
    "a TFJob": (lambda: replicas("TFJob", "tfReplicaSpecs", "tensorflow", Chief=1, PS=1, Worker=2), 4),
    "an XGBoostJob": (lambda: replicas("XGBoostJob", "xgbReplicaSpecs", "xgboost", Master=1, Worker=2), 3),
    "a PaddleJob": (lambda: replicas("PaddleJob", "paddleReplicaSpecs", "paddle", Master=1, Worker=1), 2),
    "a PaddleJob of workers": (lambda: replicas("PaddleJob", "paddleReplicaSpecs", "paddle", Worker=2), 2),
    "a JAXJob": (lambda: replicas("JAXJob", "jaxReplicaSpecs", "jax", Worker=2), 2),
    "a TrainJob of torch": (lambda: trains("torch"), 2),
    "a TrainJob of jax": (lambda: trains("jax"), 2),
    "a TrainJob of xgboost": (lambda: trains("xgboost", "2"), 2),
    "a Volcano Job of torch": (lambda: volcano({"pytorch": [], "env": []}, master=1, worker=2), 3),
    "a Volcano Job of tensorflow": (lambda: volcano({"tensorflow": []}, ps=1, worker=2), 3),
    "a LeaderWorkerSet": (lws, 2),
}


@pytest.mark.parametrize(("make", "count"), MEETING.values(), ids=MEETING)
def test_pods_meet_by_what_they_are_told(make, count, plain, tmp_path):
    """The addresses, ports and ranks of the operator are enough for all to find the first one."""
    found = make()
    well, lines = run(found if isinstance(found, list) else [found], tmp_path, plain=plain)
    assert well, lines
    assert [text for _, text in lines if text.startswith("met")] == [f"met {count}"]


def counting(**volumes: Any) -> dict[str, Any]:
    """Return a template that counts to 30 and saves every 10 in a claim."""
    found = program("count", "30", "10", "/saved", volumes=[{"name": "c", "persistentVolumeClaim": {"claimName": "c"}}])
    found["spec"]["containers"][0] |= {
        "volumeMounts": [{"name": "c", "mountPath": "/saved", "subPath": "it"}],
        "env": [{"name": "CHECKPOINT_EVERY_MINUTES", "value": "20"}],
    }
    return found


def test_a_killed_rank_costs_the_steps_since_the_last_checkpoint(plain, tmp_path):
    """The gang starts again, goes on from what was saved, and ends well; what it has cost is said."""
    found = jobset(counting(), failurePolicy={"maxRestarts": 1})
    well, lines = run([found], tmp_path, plain=plain, kill=["1@15"])
    said = [text for who, text in lines if not who]
    assert well, lines
    assert "killed w-1 at step 15" in said
    (cost,) = (
        re.fullmatch(
            r"resumed at step 11 after [\d.]+ s: (\d+) steps repeated, [\d.]+ s of work; "
            "checkpoints every 10 steps so far, declared every 20 minutes",
            item,
        )
        for item in said
        if item.startswith("resumed")
    )
    assert cost is not None
    assert int(cost[1]) >= 5
    assert (tmp_path / "state/claims/nlp/c/it/count").read_text() == "30"


def test_a_gang_without_restarts_left_has_failed(plain, tmp_path):
    """The exit code of a killed container reaches the policies; nothing runs on."""
    well, lines = run([jobset(counting(), failurePolicy={"maxRestarts": 0})], tmp_path, plain=plain, kill=["w-1@15"])
    assert not well
    assert any("all 0 restarts are used up" in text and "exited with code 137" in text for _, text in lines)
    assert ("w-0", "step=30") not in lines


def shell(script: str, **more: Any) -> dict[str, Any]:
    """Return a template that runs a script."""
    found = program("none", **more)
    found["spec"]["containers"][0] |= {"command": ["sh", "-c", script], "args": []}
    return found


def test_the_kind_says_who_ends_the_run(plain, tmp_path):
    """A PyTorchJob has ended when its master has; workers that still run are ended, by SIGTERM first."""
    found = replicas("PyTorchJob", "pytorchReplicaSpecs", "pytorch", Master=1, Worker=1)
    for role, script in (("Master", "sleep 0.5"), ("Worker", "trap 'echo told; exit 143' TERM; sleep 60 & wait")):
        container = found["spec"]["pytorchReplicaSpecs"][role]["template"]["spec"]["containers"][0]
        container |= {"command": ["sh", "-c", script], "args": []}
    well, lines = run([found], tmp_path, plain=plain)
    assert well
    assert ("worker-0", "told") in lines


def test_a_container_starts_again_in_its_pod(plain, tmp_path):
    """Restart policy OnFailure: what is in an emptyDir stays, and the second try ends well."""
    script = "cat /here/x 2>/dev/null || { echo second > /here/x; exit 3; }"
    template = shell(script, restartPolicy="OnFailure", volumes=[{"name": "e", "emptyDir": {}}])
    template["spec"]["containers"][0]["volumeMounts"] = [{"name": "e", "mountPath": "/here"}]
    well, lines = run([job(template, 1)], tmp_path, plain=plain)
    assert well, lines
    assert ("worker-0", "container main exited with code 3 and restarts in its pod") in lines
    assert ("worker-0", "second") in lines


def test_files_of_configmaps_secrets_and_fields_are_there(plain, tmp_path):
    """Each under the path and the mode that it says; a Secret that a person gives is a folder here."""
    (folder := tmp_path / "token").mkdir()
    (folder / "key").write_text("hidden")
    volumes = [
        {"name": "m", "configMap": {"name": "m", "items": [{"key": "a", "path": "b/c", "mode": 0o755}]}},
        {"name": "s", "secret": {"secretName": "token"}},
        {"name": "d", "downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
    template = shell("cat /m/b/c /s/key /d/name; echo; test -x /m/b/c && echo may run", volumes=volumes)
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in "msd"]
    template["spec"]["containers"][0]["volumeMounts"] = mounts
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "m", "namespace": "nlp"},
        "data": {"a": "x "},
    }
    objects = [job(template, 1), config, *secret_objects({"token": folder}, ["nlp"])]
    well, lines = run(objects, tmp_path, plain=plain)
    assert well, lines
    assert [text for who, text in lines if who] == ["x hiddennlp", "may run"]


REFUSED: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "a folder of the node": (
        lambda: mounted({"hostPath": {"path": "/dev/infiniband"}}),
        "hostPath /dev/infiniband.*--path MOUNTPATH=FOLDER",
    ),
    "a ConfigMap that is not there": (lambda: mounted({"configMap": {"name": "no"}}), "ConfigMap 'no'"),
    "an image's own command": (lambda: {"spec": {"containers": [{"name": "a", "image": "x"}]}}, "has no command"),
}


def mounted(source: dict[str, Any]) -> dict[str, Any]:
    """Return a template with a volume."""
    found = shell("true", volumes=[{"name": "v", **source}])
    found["spec"]["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": "/v"}]
    return found


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_had_here_is_said(make, message, tmp_path):
    """Nothing is made up in place of what is missing."""
    with pytest.raises(RunError, match=message):
        run([job(make(), 1)], tmp_path, plain=True)


def test_a_path_here_takes_the_place_of_a_volume(plain, tmp_path):
    """What the node would have is a folder that a person names."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/x").write_text("mine")
    template = mounted({"hostPath": {"path": "/data"}})
    template["spec"]["containers"][0]["command"] = ["cat", "/v/x"]
    (work,) = work_of([job(template, 1)])
    lines: list[str] = []
    paths = {"/v": tmp_path / "own"}
    session = Session(work, lambda _, text: lines.append(text), workdir=tmp_path, paths=paths, plain=plain)
    assert session.run()
    assert "mine" in lines


def test_containers_before_run_first_and_sidecars_stay(plain, tmp_path):
    """Init containers run one after another; one that always restarts runs beside the others and holds up nothing."""
    template = shell("echo main")
    template["spec"]["initContainers"] = [
        {"name": "one", "image": "x", "command": ["echo", "one"]},
        {"name": "side", "image": "x", "command": ["sleep", "60"], "restartPolicy": "Always"},
        {"name": "two", "image": "x", "command": ["echo", "two"]},
    ]
    well, lines = run([job(template, 1)], tmp_path, plain=plain)
    assert well
    assert [text for who, text in lines if who] == ["one", "two", "main"]


def test_a_pod_is_who_it_is_told_to_be(tmp_path):
    """In namespaces a pod has its host name, its user, its own /tmp and its first process."""
    if why := linux.possible():
        pytest.skip(f"pods as namespaces of Linux: {why}")
    template = shell(
        "hostname; id -u; id -g; find /tmp -name 'of-the-host-*'; echo $$$$; pwd",
        securityContext={"runAsUser": 1234, "runAsGroup": 5},
    )
    template["spec"]["containers"][0]["workingDir"] = "/some/where"
    with tempfile.NamedTemporaryFile(dir="/tmp", prefix="of-the-host-"):
        well, lines = run([job(template, 1)], tmp_path, plain=False)
    assert well
    assert [text for who, text in lines if who] == ["it-0", "1234", "5", "1", "/some/where"]


DAEMON = """
import os, pathlib, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
        os.environ.clear()
        time.sleep(600)
    os._exit(0)
os.wait()
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
print("step=1", flush=True)
time.sleep(float(sys.argv[2]))
"""
"""Starts a process that leaves session, group and parent, and that knows nothing any more of who started it."""

LEAVES = {"a program that has ended": ("0", []), "a rank that is killed": ("600", ["0@1"])}


@pytest.mark.parametrize(("seconds", "kill"), LEAVES.values(), ids=LEAVES)
def test_nothing_is_left_of_what_leaves_its_session(seconds, kill, plain, tmp_path):
    """A container's end is that of all that it has started, wherever that has gone."""
    saved = {"name": "c", "persistentVolumeClaim": {"claimName": "c"}}
    template = {"spec": {"containers": [{"name": "a", "image": "x"}], "volumes": [saved]}}
    template["spec"]["containers"][0] |= {
        "command": [PYTHON, "-c", DAEMON, "/saved/pid", seconds],
        "volumeMounts": [{"name": "c", "mountPath": "/saved"}],
    }
    well, lines = run([job(template, 1, backoffLimit=0)], tmp_path, plain=plain, kill=kill)
    assert well is not bool(kill), lines
    told = int((tmp_path / "state/claims/nlp/c/pid").read_text())
    assert told > 1
    left = [
        entry.name
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and str(tmp_path).encode() in command_of(entry) and DAEMON.encode() in command_of(entry)
    ]
    assert not left
    if plain:
        with pytest.raises(ProcessLookupError):
            os.kill(told, 0)


def command_of(process: Path) -> bytes:
    """Return the command line of a process; nothing for one that is gone."""
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


KILLS = {
    "no step": ("1", "--kill 1 must be RANK@STEP or ROLE-INDEX@STEP, as in 1@30"),
    "a rank that is not there": ("2@5", "--kill 2@5 names rank 2, but ranks are 0 to 1"),
    "a pod that is not there": ("ps-0@5", "--kill ps-0@5 names 'ps-0', but the pods are w-0, w-1"),
}


@pytest.mark.parametrize(("kill", "message"), KILLS.values(), ids=KILLS)
def test_whom_to_kill_must_be_there(kill, message, tmp_path):
    """A rank or pod that does not exist is named before anything starts."""
    with pytest.raises(RunError, match=message):
        run([jobset(counting())], tmp_path, plain=True, kill=[kill])


def test_ranks_are_counted_by_the_processes_of_their_pods():
    """A rank lies in the pod whose processes it is among."""
    template = shell("true")
    template["spec"]["containers"][0]["command"] = ["torchrun", "--nproc-per-node=4", "x.py"]
    (work,) = work_of([jobset(template)])
    assert [target(f"{rank}@1", work.pods).pod for rank in (0, 3, 4, 7)] == [
        item.pod.name for item in (work.pods[0], work.pods[0], work.pods[1], work.pods[1])
    ]


def test_threads_are_those_of_this_machine(tmp_path):
    """A node's CPUs are more than are here; what is changed is said, and a smaller number stays."""
    template = shell("echo $OMP_NUM_THREADS")
    template["spec"]["containers"][0]["env"] = [{"name": "OMP_NUM_THREADS", "value": "4096"}]
    (work,) = work_of([job(template, 1)])
    lines: list[str] = []
    session = Session(work, lambda _, text: lines.append(text), workdir=tmp_path, state=tmp_path, plain=True)
    count = str(os.cpu_count())
    assert f"OMP_NUM_THREADS is {count} instead of 4096: this machine has no more CPUs" in session.warnings
    assert session.run()
    assert count in lines


def test_what_a_kill_has_cost_is_worked_out():
    """Lines of one pod count, those about checkpoints do not; steps are lost from the first that is told again."""
    steps = Steps()
    told = []
    for now, (pod, line) in enumerate(
        [
            ("a", "step=9 loss=1"),
            ("a", "saved step=9"),
            ("a", "[rank0] step=10 loss=1"),
            ("b", "step=3"),
            ("a", "step=11"),
            ("", "kill"),
            ("a", "step=12"),
            ("", "again"),
            ("b", "resumed step=9"),
            ("b", "step=10"),
            ("b", "step=11"),
        ]
    ):
        if line == "kill":
            steps.struck(now)
        elif line == "again":
            steps.again()
        else:
            told += steps.see(line, pod, now)
    cost = "resumed at step 10 after 4.0 s: 3 steps repeated, 4.0 s of work"
    assert told == [f"{cost}; checkpoints every step so far, none declared"]
    assert steps.loss == "1"


def test_a_kill_that_costs_nothing_says_so():
    """An elastic run that goes on with the next step has lost none."""
    steps = Steps()
    for step in (1, 2):
        steps.see(f"step={step}", "a", step)
    steps.struck(2.5)
    steps.again()
    cost = "resumed at step 3 after 1.5 s: no step repeated, 0.0 s of work; no checkpoint seen or declared"
    assert steps.see("step=3", "a", 4) == [cost]


INTERVALS = {
    "none": (None, [], "no checkpoint seen or declared"),
    "only declared": (20.0, [5, 6], "checkpoints declared every 20 minutes, none seen so far"),
    "one that was seen, after those that began it": (
        None,
        [101, 102, "saved step=110 seconds=1"],
        "checkpoints every 10 steps so far, none declared",
    ),
    "the last two of those that were seen": (
        1.0,
        [1, "saved step=4", "[rank0]: saved checkpoint step=30", "saved step=30"],
        "checkpoints every 26 steps so far, declared every minute",
    ),
}


@pytest.mark.parametrize(("minutes", "lines", "text"), INTERVALS.values(), ids=INTERVALS)
def test_checkpoints_are_as_far_apart_as_told_and_declared(minutes, lines, text):
    """What a kill may cost at most is said by the checkpoints that were seen, and by the job."""
    steps = Steps(saves=Saves(minutes))
    for line in lines:
        steps.see(line if isinstance(line, str) else f"step={line}", "a", 0)
    assert str(steps.saves) == text


def test_how_a_run_stands_is_one_line():
    """It names what is up, how far training has come, and restarts, each where there is any."""
    first = Progress("running", 12.7, 1, 2, "rank")
    assert str(first) == "running 12s · 1 of 2 ranks up"
    assert str(first._replace(of=1, what="pod", seconds=61)) == "running 1m 01s · 1 of 1 pod up"
    last = Progress("training", 7325, 2, 2, "rank", 40, "1.23", 1)
    assert str(last) == "training 2h 02m · 2 of 2 ranks up · step 40 · loss 1.23 · restarts 1"


LOSSES = {
    "step=3 loss=1.25 seconds=2": "1.25",
    "step=3 loss: 1e-05": "1e-05",
    "[rank0] step=3 train_loss=2": "",
    "step=3 Loss=nan": "nan",
    "step=3": "",
}


@pytest.mark.parametrize(("line", "loss"), LOSSES.items(), ids=LOSSES)
def test_a_loss_is_read_as_it_is_told(line, loss):
    """A number behind the word, in the program's own spelling."""
    steps = Steps()
    steps.see(line, "a", 0)
    assert steps.loss == loss


def test_a_run_tells_how_it_stands(plain, tmp_path):
    """Whoever watches sees all ranks up, the step, the loss and the restarts of a run whose rank is killed."""
    seen: list[Progress] = []
    found = jobset(counting(), failurePolicy={"maxRestarts": 1})
    well, lines = run([found], tmp_path, plain=plain, kill=["1@15"], watch=lambda ask: seen.append(ask()))
    assert well, lines
    assert {(item.of, item.what) for item in seen} == {(2, "rank")}
    assert any(item.doing == "training" and item.up == 2 and item.restarts == 0 and item.step for item in seen)
    assert any(item.doing == "recovering" and item.step for item in seen)
    assert max(item.restarts for item in seen) == 1
    assert seen[-1].step is not None
    assert seen[-1].step > 15


def words_of(folder: Path) -> list[str]:
    """Return the command that runs a counting JobSet as plain processes."""
    manifest = folder / "job.json"
    manifest.write_text(json.dumps(jobset(counting())))
    state = ["--state", str(folder), "--path", f"/programs={HERE / 'programs'}"]
    return [PYTHON, "-m", "trainyard", "run", str(manifest), "--plain", *state]


WATCHED = {"a terminal": ("xterm", True), "a terminal that knows no such thing": ("dumb", False)}


@pytest.mark.parametrize(("term", "shown"), WATCHED.values(), ids=WATCHED)
def test_a_terminal_gets_a_line_that_changes(term, shown, tmp_path):
    """The last line of a terminal says how the run stands; NO_COLOR takes colours and nothing else away."""
    env = {**os.environ, "TERM": term, "NO_COLOR": "1", "COLUMNS": "80"}
    leader, follower = pty.openpty()
    process = subprocess.Popen(words_of(tmp_path), stdout=follower, stderr=follower, env=env)
    os.close(follower)
    output = b""
    with suppress(OSError):
        while data := os.read(leader, 65536):
            output += data
    os.close(leader)
    assert process.wait() == 0, output
    text = output.decode()
    assert bool(re.search(r"training \d+s · 2 of 2 ranks up · step \d+", text)) is shown
    assert ("\r\x1b[2K" in text) is shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", text)


def test_a_pipe_gets_no_such_line(tmp_path):
    """What is written into a pipe are lines, without anything that steers a terminal."""
    env = {**os.environ, "TERM": "xterm", "FORCE_COLOR": ""}
    piped = subprocess.run(words_of(tmp_path), capture_output=True, env=env, check=True)
    assert b"step=30" in piped.stdout
    assert b"\x1b" not in piped.stdout
    assert "ranks up" not in piped.stdout.decode()
