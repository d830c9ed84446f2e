"""A TrainJob may name a runtime of the cluster: what it says of it, and what the runtime does not let it say."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from conftest import ROOT
from make import IMAGE, make_cluster, make_job_file, make_source, make_specs
from trainyard.base.documents import dump
from trainyard.judge.checks.validate import strangers
from trainyard.judge.preflight import jobs
from trainyard.render.kinds import build
from trainyard.render.kinds.objects import pod
from trainyard.render.parts.objects import canonical
from trainyard.specs.sources import ExtraFile
from trainyard.upstream.workloads import pod_sets_of

OPERATORS = {"kueue": {"version": "0.19.2"}, "jobset": {"version": "0.12.0"}, "trainer": {"version": "2.3.0"}}
GRACE = {"terminationGracePeriodSeconds": 0}
STEP = {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}}
CONTAINER = {
    "name": "node",
    "image": IMAGE,
    "imagePullPolicy": "IfNotPresent",
    "terminationMessagePolicy": "FallbackToLogsOnError",
}
POD = {
    "automountServiceAccountToken": False,
    "enableServiceLinks": False,
    "restartPolicy": "Never",
    "terminationGracePeriodSeconds": 3600,
    "containers": [CONTAINER],
}


def runtime(
    *, pod: dict[str, Any] | None = None, container: dict[str, Any] | None = None, name: str = "node", **spec: Any
) -> dict[str, Any]:
    """Return a runtime that leaves nothing to be wished for, but for what is given."""
    of_pod = {**POD, **(pod or {})}
    of_pod["containers"] = [{**CONTAINER, **(container or {})}, *of_pod["containers"][1:]]
    job = {"name": name, "template": {**STEP, "spec": {"backoffLimit": 0, "template": {"spec": of_pod}}}}
    template = {"failurePolicy": {"maxRestarts": 10}, "replicatedJobs": [job]}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": template}, **spec},
    }


def checked(value: dict[str, Any] | None, **job: Any) -> Any:
    """Return the run of a job that names the runtime, where nothing is wrong, and what is."""
    fields = {"kind": "TrainJob", "runtime": "torch", "restarts": 3, **job}
    specs = make_specs(make_job_file(**fields), clusters={"test": make_cluster(operators=OPERATORS)})
    files = [ExtraFile("test", "platform", make_source("platform/extra/test/torch.yaml", value))] if value else []
    return jobs.check(replace(specs, extra=tuple(files)), specs.jobs[0])


def test_pods_are_those_of_a_runtime_of_ones_own():
    """Trainer makes of it the pods that the run would have anyway, but for the containers' own variables."""
    files = {"files": [{"source": "a.yaml", "mountPath": "/etc/a"}], "contents": {"a.yaml": "1"}}
    run, findings = checked(
        runtime(container={"env": [{"name": "SITE", "value": "here"}]}),
        secrets={"TOKEN": "tokens/wandb"},
        checkpoint={"volume": "checkpoints", "size": "10Gi"},
        **files,
    )
    assert [finding.message for finding in findings] == []
    value, *others = [item.value() for item in build(run)]
    assert [other["kind"] for other in others] == ["ConfigMap"]
    ((pods, template),) = pod_sets_of(value, [runtime()])
    assert (pods.name, pods.count) == ("node", 2)
    wanted = canonical(pod(run, run.roles[0]))
    assert template["metadata"] == wanted["metadata"]
    assert template["spec"]["containers"] == [{**wanted["spec"]["containers"][0]}]
    assert {**template["spec"], **GRACE} == {**wanted["spec"], **GRACE}


@pytest.mark.parametrize("release", ["2.2.1", "2.3.0"])
def test_both_lines_of_trainer_take_it(release):
    """Its objects are valid in the releases that are carried, deadline and all, with the runtime beside them."""
    run, _ = checked(runtime(), max_hours=2)
    values = [item.value() for item in build(run)]
    assert values[0]["spec"]["activeDeadlineSeconds"] == 7200
    text = "---\n".join(dump(value) for value in (*values, runtime()))
    result = strangers(
        [("run.yaml", text.encode())], ROOT / "schemas", kubernetes="1.35", projects={"trainer": release}
    )
    assert [finding.message for finding in result.findings] == []


def without(value: dict[str, Any], *path: Any) -> dict[str, Any]:
    """Return a copy without a field."""
    found = deepcopy(value)
    holder: Any = found
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    return found


def with_field(value: dict[str, Any], name: str, *, value_of: Any) -> dict[str, Any]:
    """Return a copy whose pods have another field."""
    found = deepcopy(value)
    pods = found["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pods[name] = value_of
    return found


def lost(severity: str, says: str) -> tuple[str, str, str]:
    """Return what is said of a field of the pods."""
    return severity, "run/runtime-fields", f"runtime 'torch' gives its pods {says} the runtime"


def ends(message: str) -> tuple[str, str, str]:
    """Return a warning about restarts."""
    return "warning", "run/runtime-restarts", message


def unusable(message: str) -> list[tuple[str, str, str]]:
    """Return the error about a runtime that cannot be used."""
    return [("error", "tr2-runtime", message)]


JOB = ("spec", "template", "spec", "replicatedJobs", 0)
SIDECAR = {"name": "logs", "image": IMAGE}
UNUSABLE = "runtime 'torch' must have one job 'node', labelled trainer, with one container 'node'; correct the runtime"
FOUND: dict[str, tuple[dict[str, Any] | None, dict[str, Any], list[tuple[str, str, str]]]] = {
    "nothing": (runtime(), {}, []),
    "a misspelt field": (
        with_field(runtime(), "hostNetworks", value_of=True),
        {},
        [lost("error", "hostNetworks true, which the run must not have; remove it from")],
    ),
    "a runtime that is not there": (
        None,
        {},
        unusable("runtime 'torch' is not in platform/extra/test; add its file there"),
    ),
    "a name that is nearly one": (
        runtime(),
        {"runtime": "touch"},
        unusable("runtime 'touch' is not in platform/extra/test; did you mean 'torch'?"),
    ),
    "a job without the label": (without(runtime(), *JOB, "template", "metadata"), {}, unusable(UNUSABLE)),
    "a job of another name": (runtime(name="worker"), {}, unusable(UNUSABLE)),
    "a container beside": (runtime(pod={"containers": [CONTAINER, SIDECAR]}), {}, unusable(UNUSABLE)),
    "a variable of the policy": (
        runtime(),
        {"launcher": "python", "env": {"PET_NNODES": "2"}, "processes_per_node": 1},
        [("error", "tr2-reserved", "PET_NNODES is set by the policy of runtime 'torch'; remove it from the job")],
    ),
    "what no patch can say": (
        runtime(),
        {"working_dir": "/work"},
        [lost("error", "no workingDir, but the run needs /work; add it to")],
    ),
    "sizes where no policy has them taken": (
        without(runtime(), "spec", "mlPolicy"),
        {},
        [lost("error", "no resources, but the run needs some; add it to")],
    ),
    "pods that restart in their place": (
        runtime(pod={"restartPolicy": "OnFailure"}),
        {},
        [
            lost("warning", "restartPolicy OnFailure, but the run needs Never; change")
        ],
    ),
    "restarts that are too few": (
        runtime(),
        {"restarts": 12},
        [ends("runtime 'torch' restarts the gang 10 times, but the run needs 12; set maxRestarts: 12")],
    ),
    "pods that are made anew one by one": (
        without(runtime(), *JOB, "template", "spec", "backoffLimit"),
        {},
        [ends("runtime 'torch' recreates up to 6 pods one by one; set backoffLimit: 0 there")],
    ),
    "another kind": (
        runtime(),
        {"kind": "JobSet"},
        [("error", "run/runtime", "runtime is 'torch', but kind 'JobSet' does not use one; kinds that do: TrainJob")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("value", "job", "expected"), FOUND.values(), ids=FOUND)
def test_what_a_runtime_does_not_let_a_job_say_is_said(value, job, expected):
    """Errors where the run would be refused or its pods lack something, warnings where it would go on otherwise."""
    run, findings = checked(value, **job)
    assert [(str(finding.severity), finding.rule, finding.message) for finding in findings] == expected
    assert (run is None) == any(severity == "error" for severity, _, _ in expected)
