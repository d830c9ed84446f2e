"""An array is a Job of independent indices: each has a number, a folder and retries of its own."""

from __future__ import annotations

import pytest

from make import make_cluster, make_job_file, make_run, make_specs, make_team
from trainyard.change.plan.read.shape import shape
from trainyard.judge.preflight.job.ceiling import needed_amounts
from trainyard.judge.preflight.jobs import check, check_run
from trainyard.render.kinds import build, default_kind, resolve
from trainyard.upstream.workloads import carrier_of

ONE = {"launcher": "python", "nodes": 1, "gpus_per_node": 1, "kind": "Job"}
NO_RECOVERY = make_cluster(recovery_minutes=0)


def job(**changes):
    """Return the Job of an array."""
    run = resolve(make_run(**{**ONE, "array": {"of": 100, "parallel": 10}, **changes}))
    return next(item.value() for item in build(run) if item.kind == "Job")


def test_indices_are_tried_again_one_by_one():
    """As many indices as asked for, some at a time; a lost node costs none, a hopeless end costs the index alone."""
    spec = job(restarts=4)["spec"]
    assert (spec["completions"], spec["parallelism"], spec["completionMode"]) == (100, 10, "Indexed")
    assert spec["backoffLimitPerIndex"] == 4
    assert not {"backoffLimit", "maxFailedIndexes", "successPolicy"} & set(spec)
    assert [rule["action"] for rule in spec["podFailurePolicy"]["rules"]] == ["Ignore", "FailIndex"]
    assert job(array={"of": 7})["spec"]["parallelism"] == 7


def test_each_index_has_a_number_and_a_folder_of_its_own():
    """The program is told its index, and finds its own checkpoints wherever it is tried again."""
    pod = job(checkpoint={"volume": "checkpoints", "size": "1Gi"})["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    env = {variable["name"]: variable.get("value", variable.get("valueFrom")) for variable in container["env"]}
    field = "metadata.labels['batch.kubernetes.io/job-completion-index']"
    assert env["ARRAY_INDEX"] == {"fieldRef": {"fieldPath": field}}
    assert env["ARRAY_SIZE"] == "100"
    (mount,) = (
        volume_mount for volume_mount in container["volumeMounts"] if volume_mount["mountPath"] == "/checkpoints"
    )
    assert mount["subPathExpr"] == "train/$(ARRAY_INDEX)"
    names = [variable["name"] for variable in container["env"]]
    assert names.index("ARRAY_INDEX") < names.index("ARRAY_SIZE"), "what may be named comes first"


def test_nothing_of_a_gang_is_there():
    """No Service, no rendezvous, no topology: an index is a run of one pod."""
    run = resolve(make_run(**ONE, array={"of": 100, "parallel": 10}))
    assert [item.kind for item in build(run)] == ["Job"]
    value = job()
    assert not [key for key in value["spec"]["template"]["metadata"]["annotations"] if "topology" in key]
    names = {variable["name"] for variable in value["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert not names & {"MASTER_ADDR", "WORLD_SIZE", "RANK", "GLOO_SOCKET_IFNAME"}


def test_the_queue_is_asked_for_what_runs_at_a_time():
    """Kueue counts as many pods as run at once, and so do we."""
    run = resolve(make_run(**ONE, array={"of": 100, "parallel": 10}))
    (count,) = (pod_set.count for pod_set in carrier_of(job()).pod_sets(job()))
    assert count == 10
    assert needed_amounts(run)["gpu"]["nvidia.com/gpu"] == 10
    words = shape([job()], {}).words
    assert words.startswith("Job of 10 pods at once, 100 indices with 10 nvidia.com/gpu")


@pytest.mark.parametrize("launcher", ["torchrun", "python", "exec"])
def test_every_launcher_of_one_pod_runs_indices(launcher):
    """What an index runs is what the job would run without an array."""
    start = {"program": None, "command": ["./train"]} if launcher == "exec" else {}
    run = {**ONE, "launcher": launcher, **start}
    both = [resolve(make_run(**run, array=array)).roles[0] for array in (None, {"of": 3})]
    assert both[0].command == both[1].command
    assert both[0].args == both[1].args
    assert check_run(make_run(**run, cluster=NO_RECOVERY, array={"of": 3}))[1] == []


def test_a_job_that_names_no_kind_gets_one_that_can():
    """Of the kinds of the cluster a Job alone has indices."""
    assert default_kind(make_run(**{**ONE, "kind": "JobSet"}, array={"of": 3})) == "Job"


FOUR = "keep + 1 = 4 checkpoints of 10Gi"

WRONG = {
    "several nodes": ({"nodes": 2}, "nodes is 2, but the pods of an array are independent; remove it or array"),
    "roles": (
        {"roles": {"server": {"pool": "cpu"}}},
        "roles has server, but the pods of an array are independent; remove it or array",
    ),
    "a topology": (
        {"topology": {"required": "rack"}},
        "topology requires one rack, but the pods of an array are independent; remove it or array",
    ),
    "a gang that shrinks": (
        {"launcher": "torchrun", "min_nodes": 1},
        "minNodes is 1, but the pods of an array are independent; remove it or array",
    ),
    "more at once than there are": (
        {"array": {"of": 3, "parallel": 4}},
        "array.parallel is 4, but array.of is 3; lower parallel",
    ),
    "a kind of gangs": (
        {"kind": "JobSet"},
        "launcher 'python' cannot run in kind 'JobSet', which does not provide 'array'; kinds that can: Job",
    ),
    "more than the pool holds": (
        {"array": {"of": 100, "parallel": 40}},
        "array.parallel is 40, but pool 'gpu' has 4 nodes, each for 8 such pods; set parallel: 32",
    ),
    "more than the queue can have": (
        {
            "array": {"of": 100, "parallel": 30},
            "cluster": make_cluster(queues={"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 16}}}}),
        },
        "job needs 30 nvidia.com/gpu, but queue 'research' can have at most 16 of pool 'gpu'; use less",
    ),
    "checkpoints of all indices": (
        {"checkpoint": {"volume": "checkpoints", "size": "10Gi"}},
        f"volume 'checkpoints' of 1Ti is too small for {FOUR} for each of 100 indices; lower keep",
    ),
    "a variable of the contract": (
        {"env": {"ARRAY_INDEX": "3"}},
        "env sets ARRAY_INDEX, which Trainyard sets itself; remove it",
    ),
    "more than a Job may have": (
        {"array": {"of": 100_001}},
        "array.of is 100001, but a Kubernetes Job has at most 100000 indices; split it into several jobs",
    ),
    "nothing": ({}, None),
    "no room for failed indices": (
        {"array": {"of": 12, "parallel": 10}, "cluster": make_cluster()},
        "once 3 indices have failed for good, Kueue stops the others after 30m0s; set parallel to 6 or less",
    ),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_what_ties_pods_together_does_not_go_with_an_array(changes, message):
    """Each mistake is a finding, and an array without one has none."""
    base = {**ONE, "array": {"of": 100, "parallel": 10}, "cluster": NO_RECOVERY}
    found = [item.message for item in check_run(make_run(**{**base, **changes}))[1]]
    assert (message in found) if message else found == []


@pytest.mark.parametrize("array", [{"of": 100_001}, {"of": 3, "parallel": 13}], ids=["too many", "too many at once"])
def test_an_array_that_cannot_be_gets_no_further_advice(array):
    """What follows from a wrong number would lead to another refusal."""
    rules = {item.rule for item in check_run(make_run(**ONE, cluster=make_cluster(), array=array))[1]}
    assert rules & {"run/array", "run/array-size"}
    assert not rules & {"spec/nodes", "kq-recovery-array"}


def test_a_job_may_have_a_hundred_thousand_indices():
    """The API server takes as many without more."""
    found = check_run(make_run(**ONE, cluster=NO_RECOVERY, array={"of": 100_000, "parallel": 10}))[1]
    assert found == []


def test_room_for_failed_indices_is_enough():
    """With as many indices waiting as run at a time, Kueue sees too few pods only when more than half have failed."""
    found = check_run(make_run(**ONE, cluster=make_cluster(), array={"of": 12, "parallel": 6}))[1]
    assert not [item for item in found if item.rule == "kq-recovery-array"]


def test_an_array_too_large_for_its_pool_is_told_one_number():
    """What the pool can hold is less than what Kueue asks for, and the other would lead to another refusal."""
    found = check_run(make_run(**ONE, cluster=make_cluster(), array={"of": 80, "parallel": 60}))[1]
    rules = {item.rule for item in found}
    assert "spec/nodes" in rules
    assert "kq-recovery-array" not in rules


def test_a_volume_of_one_node_is_not_for_many_indices():
    """Indices run on several nodes at once, so that a claim for one of them is refused."""
    team = make_team(volumes={"checkpoints": {"storage": "local", "size": "10Ti"}})
    file = make_job_file(**ONE, array={"of": 4}, checkpoint={"volume": "checkpoints", "size": "1Gi"})
    specs = make_specs(file, teams={"nlp": team}, clusters={"test": NO_RECOVERY})
    messages = [item.message for item in check(specs, file)[1]]
    assert "volume 'checkpoints' is ReadWriteOnce, but the job has 4 pods; use a ReadWriteMany volume" in messages
