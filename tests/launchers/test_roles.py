"""Roles run what they say, know where the others are, and say nothing that would be lost."""

from __future__ import annotations

import pytest

from make import make_run
from trainyard.judge.preflight.jobs import check_run
from trainyard.render.kinds import build, default_kind, kinds, resolve
from trainyard.render.launchers import launchers
from trainyard.render.launchers.own_roles import hosts_of

ROLES = {
    "server": {
        "pool": "cpu",
        "cpusPerNode": 2,
        "program": "serve.py",
        "args": ["--port", 7000],
        "env": {"MODE": "fast"},
    },
    "play-ground": {"nodes": 2, "pool": "cpu", "cpusPerNode": 1, "command": ["./play"]},
    "judge": {"pool": "cpu", "cpusPerNode": 1},
}


def pods(kind="JobSet", **job):
    """Return the containers and selectors of a run's pods, by role."""
    run = resolve(make_run(kind=kind, **job))
    carried = next(item.value() for item in build(run) if item.kind == kind)
    return {
        replicated_job["name"]: replicated_job["template"]["spec"]["template"]["spec"]
        for replicated_job in carried["spec"]["replicatedJobs"]
    }, carried


@pytest.mark.parametrize(
    ("launcher", "job", "workers"),
    [
        ("python", {"args": ["--fast"]}, ["python", "train.py", "--fast"]),
        ("exec", {"program": None, "command": ["./learn"], "args": ["--fast"]}, ["./learn", "--fast"]),
    ],
)
def test_every_role_runs_what_it_says(launcher, job, workers):
    """A role has a program, a module or a command of its own, or runs the job's with the job's arguments."""
    there, carried = pods(launcher=launcher, nodes=1, processes_per_node=1, roles=ROLES, **job)
    said = {name: pod["containers"][0]["command"] + pod["containers"][0].get("args", []) for name, pod in there.items()}
    assert said == {
        "worker": workers,
        "server": ["python", "serve.py", "--port", "7000"],
        "play-ground": ["./play"],
        "judge": workers,
    }
    assert carried["spec"]["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["worker"]}
    assert {pod["nodeSelector"]["trainyard.dev/pool"] for name, pod in there.items() if name != "worker"} == {"cpu"}


def test_every_pod_knows_its_role_and_all_addresses():
    """Addresses are those that the kind gives the pods, in the order of their index."""
    run = make_run(launcher="python", processes_per_node=1, roles=ROLES)
    there, _ = pods(launcher="python", processes_per_node=1, roles=ROLES)
    kind = kinds()["JobSet"]
    for name, pod in there.items():
        env = {variable["name"]: variable.get("value") for variable in pod["containers"][0]["env"]}
        assert env["ROLE"] == name
        assert env["ROLE_INDEX"] is None, "it comes from the pod's own label"
        for other, count in (("worker", 2), ("server", 1), ("play-ground", 2), ("judge", 1)):
            hosts = [kind.wiring(run).host(other, index) for index in range(count)]
            assert env[hosts_of(other)].split(",") == hosts
        assert env["MASTER_ADDR"] == kind.wiring(run).master
        assert ("WORLD_SIZE" in env) == (name == "worker"), "only workers are ranks"
        assert env.get("MODE") == ("fast" if name == "server" else None)


def test_the_world_is_of_workers_alone():
    """Pods of a job's own roles serve the workers, and have no ranks."""
    facts = dict(resolve(make_run(launcher="python", nodes=2, processes_per_node=1, roles=ROLES)).facts())
    assert facts["world_size"].value == 2
    assert facts["world_size"].origin == "2 worker pods × 1 process"


def test_a_role_sets_variables_before_the_job():
    """Of one name the role's value counts, and the other roles keep the job's."""
    there, _ = pods(launcher="python", processes_per_node=1, env={"MODE": "slow"}, roles=ROLES)
    modes = {
        name: [variable["value"] for variable in pod["containers"][0]["env"] if variable["name"] == "MODE"]
        for name, pod in there.items()
    }
    assert modes == {"worker": ["slow"], "server": ["fast"], "play-ground": ["slow"], "judge": ["slow"]}


def test_a_parameter_server_may_run_a_program_of_its_own():
    """TensorFlow's roles differ in what they run, and in nothing else."""
    there, _ = pods(launcher="tensorflow", args=["--fast"], roles={"ps": {"program": "serve.py", "cpusPerNode": 2}})
    said = {name: pod["containers"][0]["args"] for name, pod in there.items()}
    assert said == {"worker": ["train.py", "--fast"], "ps": ["serve.py"], "chief": ["train.py", "--fast"]}


def test_a_kind_that_carries_every_role_is_chosen():
    """A Job has one sort of pods, so that roles of one's own go into a JobSet."""
    assert default_kind(make_run(launcher="python", processes_per_node=1, roles=ROLES)) == "JobSet"


MPI = {"launcher": "mpirun", "kind": "MPIJob"}
WRONG = {
    "a program for mpirun's launcher": (
        {**MPI, "roles": {"launcher": {"program": "start.py"}}},
        "launcher 'mpirun' starts role 'launcher' itself; remove program",
    ),
    "arguments for mpirun's launcher": (
        {**MPI, "roles": {"launcher": {"args": ["-v"]}}},
        "launcher 'mpirun' starts role 'launcher' itself; remove args",
    ),
    "a command among programs of TensorFlow": (
        {"launcher": "tensorflow", "roles": {"ps": {"command": ["./serve"]}}},
        "role 'ps' has a command, but launcher 'tensorflow' starts only module or program; use that",
    ),
    "a variable of the launcher": (
        {"launcher": "python", "processes_per_node": 1, "roles": {"a": {"env": {"ROLE": "b"}}}},
        "roles.a.env sets ROLE, which launcher 'python' sets itself; remove it",
    ),
    "addresses that are told": (
        {"launcher": "python", "processes_per_node": 1, "env": {"A_HOSTS": "x"}, "roles": {"a": {}}},
        "env sets A_HOSTS, which launcher 'python' sets itself; remove it",
    ),
    "a variable of the contract": (
        {"launcher": "python", "processes_per_node": 1, "roles": {"a": {"env": {"RUN_NAME": "b"}}}},
        "roles.a.env sets RUN_NAME, which Trainyard sets itself; remove it",
    ),
    "a variable of the kind": (
        {"launcher": "python", "processes_per_node": 1, "roles": {"a": {"env": {"JOB_COMPLETION_INDEX": 3}}}},
        "roles.a.env has JOB_COMPLETION_INDEX, which kind 'JobSet' sets itself; remove it",
    ),
    "a name that no variable begins with": (
        {"launcher": "python", "processes_per_node": 1, "roles": {"2nd": {}}},
        "role '2nd' must begin with a letter, since variables are named after it; rename it",
    ),
    "a kind of one role": (
        {"launcher": "python", "processes_per_node": 1, "kind": "Job", "roles": {"a": {}}},
        "kind 'Job' has no role 'a'; it has: worker; kinds that can: JobSet",
    ),
}


@pytest.mark.parametrize(("job", "message"), WRONG.values(), ids=WRONG)
def test_what_a_role_may_not_say_is_told(job, message):
    """Each mistake is a finding at the role's own field."""
    found = check_run(make_run(**{"kind": "JobSet", **job}))[1]
    assert message in [item.message for item in found]


def test_launchers_know_which_roles_they_start():
    """Those of a gang alone know none, those of one program a pod any but the workers."""
    assert not launchers()["torchrun"].knows("server")
    assert launchers()["python"].knows("server")
    assert not launchers()["python"].knows("worker")
