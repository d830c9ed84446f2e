"""Kind and launcher go together on the cluster, or a finding says which kinds can."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_job_file, make_specs
from trainyard.base.findings import Finding
from trainyard.judge.preflight import jobs
from trainyard.render.kinds import Resolved

KUBEFLOW = {
    "kuberay": {"version": "1.6.2"},
    "mpi-operator": {"version": "0.8.0", "managed": False},
    "training-operator": {"version": "1.9.4", "managed": False},
}
SERVERS = {"ps": {"pool": "cpu", "cpusPerNode": 2}}


def outcome(*, operators: tuple[str, ...] = (), **job: Any) -> tuple[Resolved | None, list[Finding]]:
    """Return the run of a job and what is wrong with it, on a cluster that has some of Kubeflow's operators too."""
    more = {name: KUBEFLOW[name] for name in operators}
    cluster = make_cluster(operators={**CLUSTER["operators"], **more})
    specs = make_specs(make_job_file(**job), clusters={"test": cluster})
    return jobs.check(specs, specs.jobs[0])


CHOSEN = {
    "ssh from the one kind that has keys": ({"launcher": "mpirun", "operators": ("mpi-operator",)}, "MPIJob"),
    "several roles in a JobSet": ({"launcher": "tensorflow", "roles": SERVERS}, "JobSet"),
    "a TFJob where the job says so": (
        {"launcher": "tensorflow", "roles": SERVERS, "kind": "TFJob", "operators": ("training-operator",)},
        "TFJob",
    ),
    "a single pod needs nothing of its kind": ({"launcher": "python", "nodes": 1, "processes_per_node": 1}, "JobSet"),
}


@pytest.mark.parametrize(("job", "kind"), CHOSEN.values(), ids=CHOSEN)
def test_a_job_that_names_no_kind_gets_one_that_gives_what_its_launcher_needs(job, kind):
    """The first of the cluster's that can carry it."""
    run, findings = outcome(**job)
    assert findings == []
    assert run is not None
    assert run.kind.name == kind


WRONG: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "no kind of the cluster has keys": (
        {"launcher": "mpirun"},
        "run/pair",
        "launcher",
        "kinds that can: MPIJob, with mpi-operator",
    ),
    "the kind that the job names has none": (
        {"launcher": "mpirun", "kind": "JobSet", "operators": ("mpi-operator",)},
        "run/pair",
        "kind",
        "kinds that can: MPIJob",
    ),
    "a kind without ranks": (
        {"launcher": "torchrun", "kind": "MPIJob", "operators": ("mpi-operator",)},
        "run/pair",
        "kind",
        "kinds that can: Job, JobSet",
    ),
    "roles that the kind does not have": (
        {"launcher": "tensorflow", "kind": "Job", "roles": SERVERS},
        "run/roles",
        "roles.ps",
        "kinds that can: JobSet",
    ),
    "a role that the launcher does not have": (
        {"launcher": "mpirun", "operators": ("mpi-operator",), "roles": {"lancher": {"pool": "cpu", "cpusPerNode": 2}}},
        "run/roles",
        "roles.lancher",
        "has no role 'lancher'; did you mean 'launcher'?",
    ),
    "the workers as a role": (
        {"launcher": "tensorflow", "roles": {"worker": {"pool": "cpu", "cpusPerNode": 2}}},
        "run/roles",
        "roles.worker",
        "set the job's own fields for its workers",
    ),
    "fewer nodes, with which the launcher cannot go on": (
        {"launcher": "tensorflow", "min_nodes": 1},
        "run/elastic",
        "minNodes",
        "launcher 'tensorflow' is not elastic; remove it",
    ),
    "Ray without its operator": (
        {"launcher": "ray"},
        "run/pair",
        "launcher",
        "kinds that can: RayJob, with kuberay",
    ),
    "more processes of Ray than CPUs": (
        {"launcher": "ray", "operators": ("kuberay",), "processes_per_node": 8, "cpus_per_node": 4},
        "run/ray-cpus",
        "processesPerNode",
        "processesPerNode is 8, but a worker has 4 CPUs, one per process; use 4 or less",
    ),
    "fewer CPUs than processes of Ray": (
        {"launcher": "ray", "operators": ("kuberay",), "cpus_per_node": 4},
        "run/ray-cpus",
        "cpusPerNode",
        "cpusPerNode is 4, but a worker needs a CPU for each of 8 processes; raise it",
    ),
    "a variable that kind and launcher set": (
        {"launcher": "tensorflow", "kind": "TFJob", "operators": ("training-operator",), "env": {"TF_CONFIG": "{}"}},
        "run/env",
        "env.TF_CONFIG",
        "which launcher 'tensorflow' sets itself; remove it",
    ),
    "a variable by which the kind tells ranks": (
        {"launcher": "torchrun", "kind": "TFJob", "operators": ("training-operator",), "env": {"REPLICA_INDEX": 7}},
        "run/env",
        "env.REPLICA_INDEX",
        "which kind 'TFJob' sets itself; remove it",
    ),
    "a variable that the operator sets in the launcher alone": (
        {"launcher": "mpirun", "operators": ("mpi-operator",), "env": {"OMPI_MCA_plm_rsh_args": "-v"}},
        "run/env",
        "env.OMPI_MCA_plm_rsh_args",
        "which kind 'MPIJob' sets itself; remove it",
    ),
    "a volume where the operator mounts its keys": (
        {
            "launcher": "mpirun",
            "operators": ("mpi-operator",),
            "data": [{"volume": "checkpoints", "mountPath": "/etc/ssh-keys/"}],
        },
        "spec/mount-path",
        "data[0].mountPath",
        "path '/etc/ssh-keys' is already mounted, by kind 'MPIJob'; use another",
    ),
    "a topology that several roles ask for": (
        {"launcher": "tensorflow", "roles": SERVERS, "topology": {"required": "rack"}},
        "tas-roles",
        "topology.required",
        "use preferred, or a single role",
    ),
    "no room for a role that nobody wrote": (
        {
            "launcher": "mpirun",
            "operators": ("mpi-operator",),
            "nodes": 4,
            "cpus_per_node": 207,
            "memory_per_node": "1933Gi",
        },
        "run/implied-role",
        "cpusPerNode",
        "has no room: workers fill pool 'gpu'; set roles: {launcher: {pool: …}}",
    ),
}


@pytest.mark.parametrize(("job", "rule", "path", "end"), WRONG.values(), ids=WRONG)
def test_what_does_not_go_together_is_said_at_the_field_to_change(job, rule, path, end):
    """One finding, with the kinds that can or what else helps."""
    found = [(finding.rule, finding.path, finding.message) for finding in outcome(**job)[1]]
    found = [item for item in found if item[0] != "kq-max-quota"]
    assert [(name, place) for name, place, _ in found] == [(rule, path)]
    assert found[0][2].endswith(end)


@pytest.mark.parametrize("job", [job for job, *_ in WRONG.values()], ids=WRONG)
def test_messages_keep_the_style(job):
    """One sentence of at most 20 words, without a full stop."""
    for finding in outcome(**job)[1]:
        assert len(finding.message.split()) <= 20, finding.message
        assert not finding.message.endswith(".")


def test_an_implied_role_finds_room_where_the_workers_size_is_derived():
    """The workers then leave what it needs, on every node that they may share with it."""
    run, findings = outcome(launcher="mpirun", operators=("mpi-operator",), nodes=4)
    assert findings == []
    assert run is not None
    starter = run.sizing.role("launcher")
    assert run.sizing.worker.cpus.value + starter.cpus.value <= 208
    assert not starter.trains


def test_what_a_job_says_of_a_launchers_role_changes_nothing_else():
    """Its other amounts stay the launcher's, in whole cores, and the workers leave room for it as they did before."""
    job: dict[str, Any] = {"launcher": "mpirun", "operators": ("mpi-operator",), "nodes": 4}
    silent, _ = outcome(**job)
    same, nothing = outcome(**job, roles={"launcher": {}})
    more, enough = outcome(**job, roles={"launcher": {"memoryPerNode": "4Gi"}})
    assert nothing == enough == []
    assert silent is not None
    assert same is not None
    assert more is not None
    assert dict(same.sizing.facts()) == dict(silent.sizing.facts()) | {
        "launcher.processes": same.sizing.role("launcher").processes
    }
    starter, worker = more.sizing.role("launcher"), more.sizing.worker
    assert starter.memory.origin == "roles.launcher.memoryPerNode of the job"
    assert starter.cpus == silent.sizing.role("launcher").cpus
    assert worker.cpus == silent.sizing.worker.cpus
    assert "4Gi of role 'launcher'" in worker.memory.origin


def test_a_launcher_that_cannot_shrink_still_gets_its_kind():
    """What a launcher cannot do is no reason to look for a kind that can: one finding says what to remove."""
    _, findings = outcome(launcher="ray", operators=("kuberay",), min_nodes=1)
    assert [finding.message for finding in findings] == ["minNodes is 1, but launcher 'ray' is not elastic; remove it"]
