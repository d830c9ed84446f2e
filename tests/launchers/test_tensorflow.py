"""Every task of TensorFlow knows all others, whichever kind carries it: by the operator's TF_CONFIG, or by ours."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

import pytest

from make import make_resolved
from trainyard.render.kinds import build
from trainyard.render.kinds.job import INDEX_FIELD
from trainyard.render.kinds.kubeflow import INDEX_LABEL

SMALL = {"pool": "cpu", "cpusPerNode": 2}
SHAPES: dict[str, dict[str, Any]] = {
    "workers alone": {},
    "a chief among the workers": {"chief": SMALL},
    "parameter servers, and the chief that they need": {"ps": {**SMALL, "nodes": 2}},
    "an evaluator beside workers": {"evaluator": SMALL},
    "everything": {"ps": {**SMALL, "nodes": 2}, "evaluator": SMALL, "chief": SMALL},
}
PODS = {"worker": 3, "ps": 2, "chief": 1, "evaluator": 1}

Config = dict[str, Any]


def of_operator(job: dict[str, Any]) -> dict[tuple[str, int], Config]:
    """Return what the operator tells every task (training-operator v1.9.4 tensorflow.go genTFConfigJSONStr).

    Where workers are dynamic each task hears of itself alone, and a worker of all parameter servers.
    """
    name, space = job["metadata"]["name"], job["metadata"]["namespace"]
    counts = {
        kind.lower(): tf_replica_spec["replicas"] for kind, tf_replica_spec in job["spec"]["tfReplicaSpecs"].items()
    }
    cluster = {
        kind: [f"{name}-{kind}-{index}.{space}.svc:2222" for index in range(count)] for kind, count in counts.items()
    }
    tasks = [(kind, index) for kind, count in counts.items() for index in range(count)]
    if not job["spec"].get("enableDynamicWorker"):
        return {
            (kind, index): {"cluster": cluster, "task": {"type": kind, "index": index}, "environment": "cloud"}
            for kind, index in tasks
        }
    known: dict[str, Any] = {
        "worker": lambda index: {"worker": {str(index): cluster["worker"][index]}, "ps": cluster.get("ps")},
        "ps": lambda index: {"worker": {}, "ps": [cluster["ps"][index]]},
    }
    alone = {"worker": {}, "ps": []}
    return {
        (kind, index): {
            "cluster": known[kind](index) if kind in known else alone,
            "task": {"type": kind, "index": index},
        }
        for kind, index in tasks
    }


def container(template: dict[str, Any], operator: Config | None, index: int) -> tuple[dict[str, str], list[str]]:
    """Return a container's environment and command as the kubelet makes them: fields read, references expanded."""
    found: dict[str, str] = {}
    for variable in template["spec"]["containers"][0]["env"]:
        if "valueFrom" in variable:
            assert variable["valueFrom"]["fieldRef"]["fieldPath"] in (INDEX_FIELD, f"metadata.labels['{INDEX_LABEL}']")
            found[variable["name"]] = str(index)
        else:
            found[variable["name"]] = re.sub(r"\$\((\w+)\)", lambda match: found[match[1]], variable["value"])
    if operator is not None:
        found["TF_CONFIG"] = json.dumps(operator)
    part = template["spec"]["containers"][0]
    return found, [*part["command"], *part["args"]]


def seen(env: dict[str, str], command: list[str]) -> Config:
    """Return the TF_CONFIG that the program finds: whatever stands before it has run."""
    if command[0] == "python":
        found: Config = json.loads(env["TF_CONFIG"])
        return found
    assert command[-1] == "train.py"
    script = command[2].replace("exec python", "exec env #")
    done = subprocess.run(["sh", "-c", script], env=env, capture_output=True, text=True, check=True)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("TF_CONFIG=")]
    return dict(json.loads(line.partition("=")[2]))


def tasks(kind: str, roles: dict[str, Any]) -> dict[tuple[str, int], Config]:
    """Return the TF_CONFIG of every pod of a run."""
    run = make_resolved(kind=kind, launcher="tensorflow", nodes=3, roles=roles)
    job = next(build(run)).value()
    if kind == "TFJob":
        told = of_operator(job)
        templates = {
            name.lower(): tf_replica_spec["template"] for name, tf_replica_spec in job["spec"]["tfReplicaSpecs"].items()
        }
    else:
        told = {}
        sets = job["spec"]["replicatedJobs"]
        templates = {set_["name"]: set_["template"]["spec"]["template"] for set_ in sets}
    return {
        (name, index): seen(*container(template, told.get((name, index)), index))
        for name, template in templates.items()
        for index in range(PODS[name])
    }


@pytest.mark.parametrize("roles", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("kind", ["TFJob", "JobSet"])
def test_every_task_knows_all_others(kind, roles):
    """The cluster has every pod's address, under names that resolve in the team's namespace.

    Beside parameter servers the evaluator is not in it, whatever the operator says: the chief would wait for it for
    ever (tensorflow 2.21, run with real processes; without them an evaluator fails that is not in it).
    """
    found, name = tasks(kind, roles), make_resolved(launcher="tensorflow", nodes=3, roles=roles).run.name
    there = {"worker", *roles, *({"chief"} if "ps" in roles else ())}
    apart = {"evaluator"} if "ps" in roles else set()
    assert {role for role, _ in found} == there
    for (role, index), config in found.items():
        assert config["task"] == {"type": role, "index": index}
        assert set(config["cluster"]) == there - apart
        for other, hosts in config["cluster"].items():
            inside = f"{name}-{other}-0-{{}}.{name}:2222" if kind == "JobSet" else f"{name}-{other}-{{}}:2222"
            assert [host.replace(".nlp.svc", "") for host in hosts] == [inside.format(at) for at in range(PODS[other])]


def test_a_drained_worker_of_a_tfjob_does_not_fail_the_run():
    """Its workers are dynamic: of others a pod that is being deleted counts as failed, which ends the job for good.

    training-operator v1.9.4, run with real pods: without it the TFJob fails at the drain, with it the worker is made
    anew (pkg/core/status.go UpdateJobReplicaStatuses, tfjob_controller.go UpdateJobStatus).
    """
    for roles in SHAPES.values():
        job = next(build(make_resolved(kind="TFJob", launcher="tensorflow", nodes=3, roles=roles))).value()
        assert job["spec"]["enableDynamicWorker"] is True
