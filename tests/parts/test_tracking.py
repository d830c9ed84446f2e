"""A run writes to the trackers that its job names, under its own name, and no other run changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from everything import TRACKING
from make import make_cluster, make_job, make_resolved
from trainyard.render.clusters.nets import policies
from trainyard.render.kinds.objects import pod
from trainyard.render.parts import tracking
from trainyard.specs.run import digest, written_fields

HOSTED: dict[str, Any] = {
    "mlflow": {"url": "https://mlflow.example.com", "token": "mlflow/token"},
    "wandb": {"url": "https://api.wandb.ai", "entity": "lab", "apiKey": "wandb/api-key"},
}
OURS = {"mlflow": {"version": "3.17.2"}}


def resolved(said: dict[str, Any] | None = None, operators: dict[str, Any] | None = None, **job: Any) -> Any:
    """Return a run on a cluster with trackers; the team's name is nlp."""
    given = {"tracking": HOSTED if said is None else said}
    cluster = make_cluster(**given, **({"operators": operators} if operators else {}))
    return make_resolved(cluster=cluster, **job)


def variables(run: Any) -> dict[str, dict[str, Any]]:
    """Return the variables of the training container by name."""
    return {item["name"]: item for item in pod(run, run.roles[0])["spec"]["containers"][0]["env"]}


def test_a_run_without_trackers_has_none_of_their_variables():
    """A cluster that gets trackers changes no job that names none."""
    assert not [name for name in variables(resolved()) if name.startswith(("MLFLOW", "WANDB"))]
    plain = make_resolved(cluster=make_cluster())
    assert pod(plain, plain.roles[0]) == pod(resolved(), resolved().roles[0])


def test_an_unset_field_is_not_part_of_the_digest():
    """Runs that exist keep their names."""
    assert "tracking" not in written_fields(make_job())
    assert digest(make_job(), {}) != digest(make_job(tracking=["mlflow"]), {})


def test_a_run_is_known_to_its_trackers_by_its_own_name():
    """Addresses from the cluster, groups from the job, the run's name as identity."""
    run = resolved(tracking=["mlflow", "wandb"])
    found = {name: item.get("value") for name, item in variables(run).items()}
    assert found["MLFLOW_TRACKING_URI"] == "https://mlflow.example.com"
    assert found["MLFLOW_EXPERIMENT_NAME"] == "nlp/train"
    assert json.loads(found["MLFLOW_RUN_CONTEXT"])["mlflow.runName"] == run.run.name
    assert (found["WANDB_BASE_URL"], found["WANDB_ENTITY"]) == ("https://api.wandb.ai", "lab")
    assert (found["WANDB_PROJECT"], found["WANDB_RUN_GROUP"]) == ("nlp", "train")
    assert (found["WANDB_RUN_ID"], found["WANDB_RESUME"]) == (run.run.name, "allow")


def test_each_index_of_an_array_is_a_run_of_its_own():
    """Else all indices would write to one run; the kubelet sets the index before what refers to it."""
    run = resolved(tracking=["mlflow", "wandb"], array={"of": 4}, kind="Job", launcher="python")
    found = variables(run)
    name = f"{run.run.name}-$(ARRAY_INDEX)"
    assert found["WANDB_RUN_ID"]["value"] == name
    assert json.loads(found["MLFLOW_RUN_CONTEXT"]["value"])["mlflow.runName"] == name
    assert list(found).index("ARRAY_INDEX") < list(found).index("WANDB_RUN_ID")


def test_keys_come_from_secrets_of_the_team():
    """A job's own Secret wins, and explain names the Secret that counts."""
    run = resolved(tracking=["mlflow", "wandb"])
    reference = variables(run)["WANDB_API_KEY"]["valueFrom"]["secretKeyRef"]
    assert reference == {"name": "wandb", "key": "api-key"}
    assert variables(run)["MLFLOW_TRACKING_TOKEN"]["valueFrom"]["secretKeyRef"] == {"name": "mlflow", "key": "token"}
    own = resolved(tracking=["wandb"], secrets={"WANDB_API_KEY": "mine/key"})
    assert variables(own)["WANDB_API_KEY"]["valueFrom"]["secretKeyRef"] == {"name": "mine", "key": "key"}
    facts = dict(own.facts())
    assert (facts["worker.env.WANDB_API_KEY"].value, facts["worker.env.WANDB_API_KEY"].origin) == (
        "Secret mine/key",
        "secrets of the job",
    )


def test_runs_log_in_as_the_user_of_their_team():
    """With a login the two keys of one Secret; without it nothing is asked for."""
    login = {"mlflow": {**TRACKING["mlflow"], "login": {"secret": "mlflow-login"}}}
    found = variables(resolved(login, OURS, tracking=["mlflow"]))
    for name, key in (("MLFLOW_TRACKING_USERNAME", "username"), ("MLFLOW_TRACKING_PASSWORD", "password")):
        assert found[name]["valueFrom"]["secretKeyRef"] == {"name": "mlflow-user", "key": key}
    assert "MLFLOW_TRACKING_USERNAME" not in variables(
        resolved({"mlflow": TRACKING["mlflow"]}, OURS, tracking=["mlflow"])
    )


def test_a_server_of_the_cluster_is_reached_by_its_service():
    """Also where people use another address; only then do pods of teams get a way to it."""
    run = resolved({"mlflow": TRACKING["mlflow"]}, OURS, tracking=["mlflow"])
    assert variables(run)["MLFLOW_TRACKING_URI"]["value"] == "http://mlflow.mlflow.svc:5000"
    ports = {
        ours: [
            rule["ports"][0]["port"]
            for item in policies("test", cluster, "nlp", run.run.team)
            for rule in item.fields["spec"].get("egress", ())
            if "podSelector" in rule["to"][0] and rule["to"][0].get("namespaceSelector")
        ]
        for ours, cluster in ((True, run.run.cluster), (False, make_cluster(tracking=HOSTED)))
    }
    assert ports == {True: [5000], False: []}


LINKS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "none without trackers": ({}, {}),
    "both": (
        {"tracking": ["mlflow", "wandb"]},
        {"mlflow": "https://mlflow.example.com/#/experiments", "wandb": "https://wandb.ai/lab/nlp/runs/NAME"},
    ),
    "a project of the job's own": (
        {"tracking": ["wandb"], "env": {"WANDB_PROJECT": "llava"}},
        {"wandb": "https://wandb.ai/lab/llava/runs/NAME"},
    ),
    "an array": (
        {"tracking": ["wandb"], "array": {"of": 4}, "kind": "Job", "launcher": "python"},
        {"wandb": "https://wandb.ai/lab/nlp"},
    ),
}


@pytest.mark.parametrize(("job", "expected"), LINKS.values(), ids=LINKS)
def test_people_find_a_run_by_its_link(job, expected):
    """The page of the run where its address is known beforehand, else the page above it."""
    run = resolved(**job).run
    assert tracking.links(run) == {name: url.replace("NAME", run.name) for name, url in expected.items()}
