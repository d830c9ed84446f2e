"""Programs are told of their run before anything that may refer to it."""

from __future__ import annotations

import re

import pytest

from make import make_cluster, make_pool, make_resolved
from trainyard.render.kinds.objects import pod

CHECKPOINT = {"volume": "checkpoints", "mountPath": "/ckpt", "everyMinutes": 7, "size": "1Gi", "keep": 4}
OF_RUN = {"JOB_NAME": "train", "TEAM": "nlp"}


def variables(run, role):
    """The variables of the role's training container with their values, in order."""
    found = pod(run, role)["spec"]["containers"][0]["env"]
    return {item["name"]: item.get("value") for item in found}


def spot(**job):
    """A run on spot nodes."""
    pools = {"gpu": make_pool(spot=True), "cpu": make_pool(gpus=0)}
    return make_resolved(cluster=make_cluster(pools=pools), spot=True, **job)


def test_every_training_pod_is_told_what_the_job_says():
    """Whatever the role, where it runs the program."""
    run = make_resolved(
        kind="TFJob",
        launcher="tensorflow",
        pool="cpu",
        gpus_per_node=None,
        checkpoint=CHECKPOINT,
        roles={"ps": {"cpusPerNode": 1, "memoryPerNode": "1Gi"}},
    )
    assert {role.name for role in run.roles} == {"worker", "ps", "chief"}
    said = {"CHECKPOINT_DIR": "/ckpt", "CHECKPOINT_EVERY_MINUTES": "7", "CHECKPOINT_KEEP": "4", **OF_RUN}
    for role in run.roles:
        found = variables(run, role)
        assert {name: found[name] for name in said} == said
        assert found["RUN_NAME"] == run.run.name


def test_a_pod_that_only_starts_ranks_is_told_nothing():
    """The launcher of mpirun runs no program and mounts no checkpoints."""
    run = make_resolved(kind="MPIJob", launcher="mpirun", checkpoint=CHECKPOINT)
    told = [{*OF_RUN, "CHECKPOINT_DIR"} & variables(run, role).keys() for role in run.roles]
    assert told == [{*OF_RUN, "CHECKPOINT_DIR"}, set()]


def test_without_checkpoints_a_program_is_told_how_long_it_has():
    """A program that saves elsewhere has the same time, and nothing else to keep."""
    found = make_resolved()
    assert list(found.contract(found.roles[0])) == ["JOB_NAME", "RUN_NAME", "TEAM", "CHECKPOINT_GRACE_SECONDS"]


def test_what_refers_to_the_run_comes_after_it():
    """A variable sees only those before it, so the job's own come last."""
    env = {"WANDB_RUN_ID": "$(RUN_NAME)", "A_FIRST_NAME": "$(CHECKPOINT_DIR)/$(JOB_NAME)"}
    run = make_resolved(checkpoint=CHECKPOINT, env=env)
    names = list(found := variables(run, run.roles[0]))
    for name, value in found.items():
        for other in re.findall(r"\$\(([A-Z_]+)\)", value or ""):
            assert names.index(other) < names.index(name)
    assert env.items() <= found.items()


TIMES = {
    "torchrun ends after its processes": (make_resolved, {"grace_seconds": 100}, "95 = grace of 100 - 5 for torchrun"),
    "python is the program": (make_resolved, {"launcher": "python", "nodes": 1, "grace_seconds": 100}, "100 = grace"),
    "a spot node does not wait": (spot, {"grace_seconds": 100}, "25 = notice of 30 - 5 for torchrun itself"),
    "a grace below the notice": (spot, {"grace_seconds": 20}, "15 = grace of 20 - 5 for torchrun itself"),
    "never none": (make_resolved, {"grace_seconds": 3}, "1 = grace of 3 - 5 for torchrun itself"),
}


@pytest.mark.parametrize(("make", "job", "origin"), TIMES.values(), ids=TIMES)
def test_a_program_knows_how_long_it_has_to_save(make, job, origin):
    """The grace, or the notice where that is shorter, less what the launcher takes; torchrun gives it the same."""
    run = make(**job)
    told = run.contract(run.roles[0])["CHECKPOINT_GRACE_SECONDS"]
    assert told.origin.startswith(origin)
    assert told.value == told.origin.split()[0]
    env = variables(run, run.roles[0])
    assert env["CHECKPOINT_GRACE_SECONDS"] == told.value == env.get("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", told.value)
