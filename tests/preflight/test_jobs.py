"""A job becomes a run on its cluster, or a finding says why it cannot."""

from __future__ import annotations

import pytest

from make import make_cluster, make_job_file, make_specs, make_team
from trainyard.judge.preflight import jobs

PLAIN = {"kueue": {"version": "0.19.2"}}
ROLE = {"ps": {"nodes": 1}}


def outcome(*, operators=None, name="train", **job):
    """Return the run of one job, None where there is none, and what is wrong with it."""
    cluster = make_cluster(**({"operators": operators} if operators else {}))
    specs = make_specs(make_job_file(name, **job), clusters={"test": cluster})
    return jobs.check(specs, specs.jobs[0])


KINDS = {
    "JobSet where the cluster has it": ({}, "JobSet"),
    "Job where it has not": ({"operators": PLAIN}, "Job"),
    "Job where the size may change": ({"min_nodes": 2}, "Job"),
    "as the job says": ({"kind": "Job"}, "Job"),
}


@pytest.mark.parametrize(("job", "expected"), KINDS.values(), ids=KINDS)
def test_kind(job, expected):
    """A job that names no kind is a JobSet where there is one and it can carry the job, else a Job."""
    resolved, findings = outcome(**job)
    assert (resolved.run.kind, resolved.kind.name, findings) == (expected, expected, [])


def test_a_retired_job_of_many_nodes_is_left_in_peace():
    """What it asked for is not worked out, since to name its pods would take hours."""
    assert outcome(retired=True, nodes=2147483647) == (None, [])


def test_a_run_is_named_by_its_job_and_digest():
    """The run carries its cluster, team, source and files."""
    resolved, _ = outcome(files=[{"source": "a.yaml", "mountPath": "/etc/a"}], contents={"a.yaml": "1"})
    run = resolved.run
    assert run.name == f"train-{run.digest[:8]}"
    assert (run.namespace, run.cluster_name, run.source.file) == ("nlp", "test", "jobs/nlp/train.yaml")
    assert run.contents == {"a.yaml": "1"}


WRONG = {
    "a kind that is mistyped": ({"kind": "Jobset"}, ["kind 'Jobset' does not exist; did you mean 'JobSet'?"]),
    "a launcher that is mistyped": (
        {"launcher": "torchrn"},
        ["launcher 'torchrn' does not exist; did you mean 'torchrun'?"],
    ),
    "a kind whose operator is missing": (
        {"kind": "JobSet", "operators": PLAIN},
        ["kind 'JobSet' needs operator 'jobset', which cluster 'test' does not have; kinds there: Job"],
    ),
    "a role that the launcher does not have, whatever the kind": (
        {"kind": "Job", "roles": ROLE},
        [
            "launcher 'torchrun' has no role 'ps'; remove it",
        ],
    ),
    "a variable that the operator sets": (
        {"env": {"JOB_COMPLETION_INDEX": "0"}},
        ["env has JOB_COMPLETION_INDEX, which kind 'JobSet' sets itself; remove it"],
    ),
    "a size that a kind cannot change": (
        {"kind": "JobSet", "min_nodes": 1},
        ["minNodes is 1, but kind 'JobSet' is not elastic; kinds that are: Job"],
    ),
    "an object that the run does not have": (
        {"patches": [{"object": "Deployment", "merge": {}, "reason": "x"}]},
        ["patch names object 'Deployment', which this run does not have; there are: Job, JobSet, Pod"],
    ),
    "a role that the job does not have": (
        {"patches": [{"object": "Pod", "role": "workers", "merge": {}, "reason": "x"}]},
        ["patch names role 'workers', which the job does not have; did you mean 'worker'?"],
    ),
    "a role of what all roles share": (
        {"patches": [{"object": "JobSet", "role": "worker", "merge": {}, "reason": "x"}]},
        ["patch of 'JobSet' names role 'worker', but the object belongs to all roles; remove role"],
    ),
    "a name": (
        {"patches": [{"object": "JobSet", "merge": {"metadata": {"name": "x", "namespace": "y"}}, "reason": "x"}]},
        [
            "patch sets metadata.name, which identifies the object or its owner; remove it",
            "patch sets metadata.namespace, which identifies the object or its owner; remove it",
        ],
    ),
    "the queue": (
        {
            "patches": [
                {"object": "Pod", "merge": {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": None}}}, "reason": "x"}
            ]
        },
        [
            (
                'patch sets metadata.labels["kueue.x-k8s.io/queue-name"], which identifies the object or its owner; '
                "remove it"
            )
        ],
    ),
    "the priority in the queue": (
        {
            "patches": [
                {
                    "object": "JobSet",
                    "merge": {"metadata": {"labels": {"kueue.x-k8s.io/priority-class": "high"}}},
                    "reason": "x",
                }
            ]
        },
        [
            (
                'patch sets metadata.labels["kueue.x-k8s.io/priority-class"], which identifies the object or its '
                "owner; remove it"
            )
        ],
    ),
    "the priority of pods": (
        {
            "patches": [
                {"object": "Pod", "merge": {"spec": {"priorityClassName": "system-node-critical"}}, "reason": "x"},
                {"object": "JobSet", "merge": {"spec": {"a": [{"priorityClassName": "b"}]}}, "reason": "x"},
            ]
        },
        [
            "patch sets spec.priorityClassName, which decides scheduling priority; remove it",
            "patch sets spec.a[0].priorityClassName, which decides scheduling priority; remove it",
        ],
    ),
    "nodes beyond all reason": (
        {"nodes": 2147483647},
        ["nodes is 2147483647, but pool 'gpu' has 4 nodes; lower nodes"],
    ),
    "nodes of a role beyond all reason": (
        {"launcher": "tensorflow", "roles": {"ps": {"pool": "cpu", "cpusPerNode": 2, "nodes": 100_000_000}}},
        ["nodes is 100000000, but pool 'cpu' has 4 nodes; lower nodes"],
    ),
    "all labels": (
        {"patches": [{"object": "JobSet", "merge": {"metadata": {"labels": None}}, "reason": "x"}]},
        ["patch sets metadata.labels, which identifies the object or its owner; remove it"],
    ),
}


@pytest.mark.parametrize(("job", "messages"), WRONG.values(), ids=WRONG)
def test_what_cannot_run(job, messages):
    """What cannot be rendered is a finding at the job's field, in one short sentence, and no run."""
    run, findings = outcome(**job)
    assert [finding.message for finding in findings] == messages
    assert run is None
    assert all(finding.location.line and len(finding.message.split()) <= 20 for finding in findings)


def test_findings_stand_at_their_field():
    """A finding names line and path of the field to edit."""
    _, [finding] = outcome(kind="Jobset")
    assert finding.path == "kind"
    assert finding.location.line == 10


def test_the_name_of_the_last_pod_of_a_role_must_resolve():
    """A host name beyond 63 characters is refused or cut, so that ranks would not find each other."""
    run, findings = outcome(name="a" * 30, roles={"parameters": {"nodes": 1000000}})
    assert run is None
    assert [(finding.message, finding.path) for finding in findings if finding.rule == "rdv-name-len"] == [
        (
            ("the last pod's host name in role 'parameters' has 65 characters, more than 63; shorten the job's name"),
            "roles.parameters",
        )
    ]


RETIRED = {
    "a kind that is gone": ({"kind": "Gone"}, None),
    "a launcher that is gone": ({"launcher": "gone"}, None),
    "more nodes than there are": ({"nodes": 99}, "JobSet"),
    "a queue that is gone": ({"queue": "gone"}, "JobSet"),
}


@pytest.mark.parametrize(("job", "kind"), RETIRED.values(), ids=RETIRED)
def test_a_retired_job_is_not_checked(job, kind):
    """Nothing of it is rendered, so that whatever it names may be gone; its run is known where it can be."""
    resolved, findings = outcome(retired=True, **job)
    assert (resolved and resolved.kind.name, findings) == (kind, [])


ALONE = {
    "one worker": ({"nodes": 1}, []),
    "two": ({"nodes": 2}, ["spec/volume-access"]),
    "one, and a launcher that mounts nothing": (
        {"nodes": 1, "launcher": "mpirun", "roles": {"launcher": {"memoryPerNode": "4Gi"}}},
        [],
    ),
    "one, and a server that does": (
        {"nodes": 1, "launcher": "tensorflow", "roles": {"ps": {"pool": "cpu"}, "chief": {"pool": "cpu"}}},
        ["spec/volume-access"],
    ),
}


@pytest.mark.parametrize(("job", "rules"), ALONE.values(), ids=ALONE)
def test_a_volume_of_one_node_is_mounted_by_one_pod(job, rules):
    """Those that train mount it, whether the job writes them or its launcher implies them."""
    operators = {"jobset": {"version": "0.12.0"}, "mpi-operator": {"version": "0.8.0", "managed": False}}
    team = make_team(volumes={"own": {"storage": "local", "size": "1Ti"}})
    file = make_job_file(data=[{"volume": "own", "mountPath": "/own"}], **job)
    specs = make_specs(file, clusters={"test": make_cluster(operators=operators)}, teams={"nlp": team})
    assert [finding.rule for finding in jobs.check(specs, file)[1]] == rules


MISSING = {
    "a cluster": ({"cluster": "nowhere"}, ["spec/unknown-cluster"]),
    "a pool": ({"pool": "nothing"}, ["spec/unknown-pool"]),
    "a pool of a role": ({"roles": {"ps": {"pool": "nothing"}}}, ["spec/unknown-pool"]),
    "a team, which is said of its folder": ({"team": "nobody"}, []),
}


@pytest.mark.parametrize(("job", "rules"), MISSING.values(), ids=MISSING)
def test_a_job_that_names_what_is_missing_has_no_run(job, rules):
    """What does not exist is said once, and nothing that would follow from it."""
    run, findings = outcome(**job)
    assert run is None
    assert [finding.rule for finding in findings] == rules
