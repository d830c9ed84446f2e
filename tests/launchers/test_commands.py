"""Launchers write the command of every role; each has a reviewed golden file for one node, several and elastic."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import Any

import pytest

from make import make_run
from trainyard.base.documents import dump
from trainyard.render.launchers import Launch, Launcher, Wiring, launchers
from trainyard.render.sizing import size

WIRING = Wiring(
    host=lambda role, index: f"run-{role}-0-{index}.run",
    rank="JOB_COMPLETION_INDEX",
    rank_field="metadata.labels['batch.kubernetes.io/job-completion-index']",
    keys="/keys",
    hostfile="/hosts",
)
SHAPES: dict[str, dict[str, Any]] = {
    "one node": {"nodes": 1, "args": ["--steps", 10]},
    "four nodes": {"nodes": 4, "program": None, "module": "llm.train"},
    "four nodes of CPUs": {"nodes": 4, "pool": "cpu", "gpus_per_node": 0},
}


def launched(launcher: Launcher, **job: Any) -> Launch:
    """Return how a run starts, of a command where a program is none to it; digests in names are replaced."""
    if not launcher.takes & {"program", "module"}:
        job |= {"program": None, "module": None, "command": ["./train", "--all"]}
    run = replace(make_run(launcher=launcher.name, **job), digest="digest00")
    return launcher.launch(run, size(run, launcher.roles(run)), WIRING)


def roles(launcher: Launcher, **job: Any) -> list[dict[str, Any]]:
    """Return what each role runs, as plain values."""
    return [
        {
            "role": role.name,
            "pods": role.pods,
            "command": [item.replace("train-digest00", "RUN") for item in role.command],
            "args": [argument.replace("train-digest00", "RUN") for argument in role.args],
            "env": {name: {"value": sized.value, "origin": sized.origin} for name, sized in role.env.items()},
            "fields": dict(role.fields),
        }
        for role in launched(launcher, **job).roles
    ]


def shapes(launcher: Launcher) -> dict[str, dict[str, Any]]:
    """Return jobs that the launcher starts differently."""
    found = dict(SHAPES)
    if launcher.elastic:
        found["two to four nodes"] = {"nodes": 4, "min_nodes": 2}
        found["two to eight nodes, four at first"] = {"nodes": 4, "min_nodes": 2, "max_nodes": 8}
    for name in sorted(launcher.role_names - launcher.implied(make_run()).keys()):
        found[f"with role {name}"] = {"nodes": 2, "roles": {name: {"pool": "cpu", "cpusPerNode": 2}}}
    return found


def written(launcher: Launcher, **job: Any) -> str:
    """Return how a run starts as text: every role, and what is for all of them if there is any."""
    found = launched(launcher, **job)
    rest = {"ends": list(found.ends), "entrypoint": list(found.entrypoint), "files": dict(found.files)}
    rest = {name: value for name, value in rest.items() if value}
    return dump(roles(launcher, **job)) + (dump(rest) if rest else "")


@pytest.mark.parametrize("name", sorted(launchers()))
def test_launcher(name, golden):
    """Commands, arguments and variables of every role are those of the golden file."""
    launcher = launchers()[name]
    text = "".join(f"# {shape}\n{written(launcher, **job)}" for shape, job in shapes(launcher).items())
    golden(f"golden/launchers/{name}.yaml", text)


def test_registry_and_folder_agree():
    """Every launcher is registered under its own name, which is its module's."""
    assert {name: launcher.name for name, launcher in launchers().items()} == {name: name for name in launchers()}


def test_ranks_follow_indices():
    """With static rendezvous a node's rank is its index, and all nodes name one master that exists."""
    [role] = roles(launchers()["torchrun"], nodes=4)
    assert "--node-rank=$(JOB_COMPLETION_INDEX)" in role["args"]
    assert "--master-addr=run-worker-0-0.run" in role["args"]
    assert "--nnodes=4" in role["args"]
    assert "--nproc-per-node=8" in role["args"]
    assert role["args"][-1] == "train.py"


def test_the_first_node_hosts_the_store_of_an_elastic_job():
    """The shell tells index 0 from the others and hands arguments on untouched, whatever is in them."""
    [role] = roles(launchers()["torchrun"], nodes=4, min_nodes=2, args=["a b", "$(X)", "'"])
    script = role["command"][2].replace("exec torchrun", "printf '%s|'")
    for index, host in (("0", "is_host=1"), ("3", "is_host=0")):
        argv = ["sh", "-c", script, *role["command"][3:], *role["args"]]
        done = subprocess.run(argv, env={"JOB_COMPLETION_INDEX": index}, capture_output=True, text=True, check=True)
        options = done.stdout.split("|")
        assert options[0] == f"--rdzv-conf={host},join_timeout=1800,read_timeout=1800"
        assert options[-4:-1] == ["a b", "$(X)", "'"]


def test_ranks_of_an_elastic_job_meet_at_a_new_store_each_round():
    """Agents would hand them a store that has the addresses of the last round's ranks."""
    [shrinks] = roles(launchers()["torchrun"], nodes=4, min_nodes=2)
    [fixed] = roles(launchers()["torchrun"], nodes=4)
    assert shrinks["env"]["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"]["value"] == "1"
    assert "TORCH_DISABLE_SHARE_RDZV_TCP_STORE" not in fixed["env"]


STARTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a script": ({}, ["-u", "train.py"]),
    "a module": ({"program": None, "module": "llm.train"}, ["-um", "llm.train"]),
}


@pytest.mark.parametrize(("start", "python"), STARTS.values(), ids=STARTS)
def test_a_rank_of_deepspeed_is_told_what_its_own_launcher_tells(start, python, tmp_path):
    """The argument comes before the job's own, which are handed on untouched; the variables are those of its node."""
    [role] = roles(launchers()["deepspeed"], nodes=4, args=["a b", "$(X)", "'"], **start)
    (tmp_path / "python").write_text('#!/bin/sh\nprintf "%s|" "$@" "$LOCAL_SIZE" "$CROSS_RANK" "$CROSS_SIZE"\n')
    (tmp_path / "python").chmod(0o755)
    agent = {"LOCAL_RANK": "3", "LOCAL_WORLD_SIZE": "8", "GROUP_RANK": "1", "GROUP_WORLD_SIZE": "4"}
    argv = role["args"][role["args"].index("--no-python") + 1 :]
    done = subprocess.run(argv, env={"PATH": f"{tmp_path}:/bin", **agent}, capture_output=True, text=True, check=True)
    assert done.stdout.split("|")[:-1] == [*python, "--local_rank=3", "a b", "$(X)", "'", "8", "1", "4"]


def test_threads_are_shared_by_processes():
    """OpenMP gets the CPUs of one process, as torchrun would otherwise say 1."""
    [role] = roles(launchers()["torchrun"], nodes=1, processes_per_node=4, cpus_per_node=10)
    assert role["env"]["OMP_NUM_THREADS"] == {"value": "2", "origin": "2 = floor(10 CPUs / 4 processes)"}


def test_processes_may_save_as_long_as_the_pod_has_grace():
    """Torchrun would kill them after 30 seconds, whatever the pod's grace is."""
    [role] = roles(launchers()["torchrun"], nodes=1, grace_seconds=600)
    assert role["env"]["TORCH_ELASTIC_SHUTDOWN_TIMEOUT"]["value"] == "595"


WRONG = {
    "a role that it does not know": (
        {"roles": {"ps": {"nodes": 1}}},
        ["launcher 'torchrun' has no role 'ps'; remove it"],
    ),
    "fewer nodes with plain Python": (
        {"launcher": "python", "min_nodes": 1, "gpus_per_node": 1},
        ["minNodes is 1, but launcher 'python' is not elastic; remove it"],
    ),
    "a variable that it sets": (
        {"env": {"MASTER_ADDR": "x"}},
        ["env sets MASTER_ADDR, which launcher 'torchrun' sets itself; remove it"],
    ),
    "a secret that it sets": (
        {"secrets": {"RANK": "tokens/rank"}},
        ["secrets sets RANK, which launcher 'torchrun' sets itself; remove it"],
    ),
    "sizes that ZeRO does not load": (
        {"launcher": "deepspeed", "nodes": 4, "min_nodes": 2},
        [
            (
                "minNodes is 2 of 4, but ZeRO cannot load checkpoints of another size; use universal checkpoints and "
                "waive this"
            )
        ],
    ),
    "DeepSpeed's launcher within a command": (
        {"launcher": "exec", "program": None, "command": ["deepspeed", "train.py"]},
        ["command starts 'deepspeed' separately on each of 2 nodes; use launcher: deepspeed"],
    ),
    "Accelerate's launcher within a command": (
        {"launcher": "exec", "program": None, "command": ["accelerate", "launch", "train.py"]},
        ["command starts 'accelerate' separately on each of 2 nodes; use launcher: accelerate"],
    ),
    "processes that Python does not start": (
        {"launcher": "python", "processes_per_node": 8},
        ["processesPerNode is 8, but launcher 'python' starts one process; use launcher: torchrun"],
    ),
    "GPUs that Python may leave idle": (
        {"launcher": "python"},
        [
            (
                "launcher 'python' starts one process for 8 GPUs; use torchrun, or processesPerNode: 1 if the "
                "program uses all"
            )
        ],
    ),
    "processes that TensorFlow does not start": (
        {"launcher": "tensorflow", "processes_per_node": 8},
        ["processesPerNode is 8, but launcher 'tensorflow' uses one process for all GPUs; remove it"],
    ),
    "two chiefs": (
        {"launcher": "tensorflow", "roles": {"chief": {"nodes": 2}}},
        ["role 'chief' has 2 nodes, but only one pod is possible; remove nodes"],
    ),
    "two pods that start the ranks": (
        {"launcher": "mpirun", "roles": {"launcher": {"nodes": 2}}},
        ["role 'launcher' has 2 nodes, but only one pod is possible; remove nodes"],
    ),
    "a command where Python runs a program": (
        {"program": None, "command": ["./train"]},
        ["launcher 'torchrun' starts Python programs; write program or module, or launcher: exec"],
    ),
    "a module where a command is started": (
        {"launcher": "exec", "program": None, "module": "llm.train"},
        ["launcher 'exec' starts a command, not a Python program; use command: [python, …], or launcher: python"],
    ),
    "a launcher that knows no ranks": (
        {"launcher": "exec", "program": None, "command": ["/opt/conda/bin/torchrun", "train.py"]},
        ["command starts 'torchrun' separately on each of 2 nodes; use launcher: torchrun"],
    ),
    "mpirun within mpirun": (
        {"launcher": "mpirun", "program": None, "command": ["mpirun", "./train"]},
        ["command starts 'mpirun', which launcher 'mpirun' already does; remove it"],
    ),
    "mpirun within mpirun, on one node": (
        {"launcher": "mpirun", "nodes": 1, "program": None, "command": ["mpirun", "./train"]},
        ["command starts 'mpirun', which launcher 'mpirun' already does; remove it"],
    ),
    "a launcher by a shell": (
        {"launcher": "exec", "program": None, "command": ["bash", "-euo", "pipefail", "-c", "cd /a && torchrun b.py"]},
        ["command starts 'torchrun' separately on each of 2 nodes; use launcher: torchrun"],
    ),
    "a launcher by a shell that names variables": (
        {"launcher": "exec", "program": None, "command": ["sh", "-c", "torchrun --node-rank=$NODE_RANK b.py"]},
        [],
    ),
    "a launcher by env": (
        {"launcher": "exec", "program": None, "command": ["env", "X=1", "/usr/bin/torchrun", "b.py"]},
        ["command starts 'torchrun' separately on each of 2 nodes; use launcher: torchrun"],
    ),
    "a launcher as a module": (
        {"launcher": "exec", "program": None, "command": ["python3", "-u", "-m", "torch.distributed.run", "b.py"]},
        ["command starts 'torchrun' separately on each of 2 nodes; use launcher: torchrun"],
    ),
    "a module that is torchrun": (
        {"program": None, "module": "torch.distributed.launch", "nodes": 1, "args": ["b.py"]},
        ["module starts 'torchrun', which launcher 'torchrun' already does; remove it"],
    ),
    "a script that is told of a launcher": (
        {"launcher": "exec", "program": None, "command": ["python", "a.py", "-m", "torch.distributed.run"]},
        [],
    ),
    "a launcher that is told its ranks": (
        {
            "launcher": "exec",
            "program": None,
            "command": ["torchrun", "--nnodes=$(NNODES)", "--node-rank=$(NODE_RANK)"],
            "args": ["--master-addr=$(MASTER_ADDR)", "train.py"],
        },
        [],
    ),
    "a launcher on one node": (
        {"launcher": "exec", "nodes": 1, "program": None, "command": ["torchrun", "--standalone", "train.py"]},
        [],
    ),
    "a command that says who it is": (
        {"launcher": "exec", "program": None, "command": ["./train"], "env": {"NODE_RANK": "7"}},
        ["env sets NODE_RANK, which launcher 'exec' sets itself; remove it"],
    ),
    "one process for all GPUs, said so": ({"launcher": "python", "processes_per_node": 1}, []),
    "a variable of NCCL": ({"env": {"NCCL_DEBUG": "INFO", "OMP_NUM_THREADS": 1}}, []),
}


@pytest.mark.parametrize(("job", "messages"), WRONG.values(), ids=WRONG)
def test_what_a_launcher_cannot_do(job, messages):
    """Fields that mean nothing to a launcher are findings in one short sentence."""
    run = make_run(**job)
    found = list(launchers()[run.job.launcher].check(run))
    assert [finding.message for finding in found] == messages
    assert all(len(finding.message.split()) <= 20 for finding in found)


TOLD: dict[str, tuple[dict[str, Any], dict[str, str], set[str]]] = {
    "one node, which is no gang": (
        {"nodes": 1},
        {"NNODES": "1", "NODE_RANK": "0", "LOCAL_WORLD_SIZE": "8", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"},
        set(),
    ),
    "a rank for every GPU, which the command numbers": (
        {"nodes": 4},
        {"NNODES": "4", "LOCAL_WORLD_SIZE": "8", "MASTER_ADDR": "run-worker-0-0.run", "MASTER_PORT": "29500"},
        {"NODE_RANK"},
    ),
    "a pod that is a rank": (
        {"nodes": 4, "processes_per_node": 1},
        {
            "NNODES": "4",
            "LOCAL_WORLD_SIZE": "1",
            "WORLD_SIZE": "4",
            "MASTER_ADDR": "run-worker-0-0.run",
            "MASTER_PORT": "29500",
        },
        {"NODE_RANK", "RANK"},
    ),
}


@pytest.mark.parametrize(("job", "env", "fields"), TOLD.values(), ids=TOLD)
def test_a_command_is_told_who_it_is(job, env, fields):
    """It runs as it is, without a shell, with its place among the pods in its environment."""
    [role] = roles(launchers()["exec"], args=["--steps", 10], **job)
    assert (role["command"], role["args"]) == (["./train", "--all"], ["--steps", "10"])
    assert {name: variable["value"] for name, variable in role["env"].items() if name != "OMP_NUM_THREADS"} == env
    assert set(role["fields"]) == fields
    assert set(env) | fields <= launchers()["exec"].variables


def test_ranks_of_mpirun_are_commands_too():
    """What mpirun starts is the command itself, with no Python in front."""
    found = launched(launchers()["mpirun"], program=None, command=["/opt/all_reduce_perf"], args=["-g", 1])
    assert found.roles[1].args[-5:] == ("sh", "/etc/trainyard/rank.sh", "/opt/all_reduce_perf", "-g", "1")
