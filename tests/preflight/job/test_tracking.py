"""A job names trackers that its cluster has, with keys that its team lists, and does not switch them off."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_cluster, make_job_file, make_specs, make_team
from trainyard.judge.preflight.job.limits import VARIABLES
from trainyard.judge.preflight.job.tracking import check
from trainyard.judge.preflight.jobs import check as check_job
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.subjects import OneJob

BOTH: dict[str, Any] = {
    "mlflow": {"url": "https://mlflow.example.com", "token": "mlflow/token"},
    "wandb": {"url": "https://api.wandb.ai", "entity": "lab", "apiKey": "wandb/api-key"},
}
UNKNOWN, SECRET, OFF = "spec/unknown-tracker", "spec/unknown-secret", "run/tracking-off"
LISTED = ["mlflow", "wandb"]

CASES: dict[str, tuple[dict[str, Any] | None, list[str], dict[str, Any], list[tuple[str, str]]]] = {
    "no trackers anywhere": (None, [], {}, []),
    "a cluster without any": (None, [], {"tracking": ["mlflow"]}, [(UNKNOWN, "tracking[0]")]),
    "the other one": ({"wandb": BOTH["wandb"]}, LISTED, {"tracking": ["wandb", "mlflow"]}, [(UNKNOWN, "tracking[1]")]),
    "both": (BOTH, LISTED, {"tracking": ["mlflow", "wandb"]}, []),
    "keys that the team lacks": (
        BOTH,
        ["other"],
        {"tracking": ["mlflow", "wandb"]},
        [(SECRET, "tracking[0]"), (SECRET, "tracking[1]")],
    ),
    "a key of the job's own": (
        BOTH,
        ["other"],
        {"tracking": ["wandb"], "secrets": {"WANDB_API_KEY": "other/key"}},
        [],
    ),
    "offline": (
        BOTH,
        LISTED,
        {"tracking": ["wandb"], "env": {"WANDB_MODE": "offline"}},
        [(OFF, "env.WANDB_MODE")],
    ),
    "disabled for transformers": (
        BOTH,
        LISTED,
        {"tracking": ["wandb"], "env": {"WANDB_DISABLED": "True"}},
        [(OFF, "env.WANDB_DISABLED")],
    ),
    "disabled in another word": (
        BOTH,
        LISTED,
        {"tracking": ["wandb"], "env": {"WANDB_DISABLED": "yes"}},
        [(OFF, "env.WANDB_DISABLED")],
    ),
    "not disabled": (BOTH, LISTED, {"tracking": ["wandb"], "env": {"WANDB_DISABLED": "false"}}, []),
    "online": (BOTH, LISTED, {"tracking": ["wandb"], "env": {"WANDB_MODE": "online"}}, []),
    "offline, and no tracker named": (BOTH, LISTED, {"env": {"WANDB_MODE": "offline"}}, []),
    "offline, and only MLflow named": (BOTH, LISTED, {"tracking": ["mlflow"], "env": {"WANDB_MODE": "offline"}}, []),
}


def specs_of(said: dict[str, Any] | None, secrets: list[str], job: dict[str, Any]) -> tuple[Any, Any]:
    """Return a repository with one job, and the job's file."""
    file = make_job_file(**job)
    cluster = make_cluster(tracking=said) if said else make_cluster()
    return make_specs(file, clusters={"test": cluster}, teams={"nlp": make_team(secrets=secrets)}), file


@pytest.mark.parametrize(("said", "secrets", "job", "expected"), CASES.values(), ids=CASES)
def test_trackers_of_a_job(said, secrets, job, expected):
    """Each problem once, at the name or the variable."""
    specs, file = specs_of(said, secrets, job)
    one = OneJob(specs, file, run_of(specs, file))
    assert one.team is not None
    assert one.cluster is not None
    assert [(item.rule, item.path) for item in check(one, one.team, one.cluster)] == expected


OWN = {
    "the address of MLflow": ({"MLFLOW_TRACKING_URI": "file:/tmp"}, ["env.MLFLOW_TRACKING_URI"]),
    "the id at Weights & Biases": ({"WANDB_RUN_ID": "mine"}, ["env.WANDB_RUN_ID"]),
    "a project and an experiment": ({"WANDB_PROJECT": "llava", "MLFLOW_EXPERIMENT_NAME": "llava"}, []),
}


@pytest.mark.parametrize(("env", "expected"), OWN.values(), ids=OWN)
def test_a_job_names_its_groups_but_not_itself(env, expected):
    """Where it writes and as which run follows from the cluster and the run; without trackers all is the job's own."""
    for trackers, places in ((["mlflow", "wandb"], expected), ([], [])):
        specs, file = specs_of(BOTH, LISTED, {"tracking": trackers, "env": env})
        _, findings = check_job(specs, file)
        assert [item.path for item in findings if item.rule == VARIABLES.id] == places
