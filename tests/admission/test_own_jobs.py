"""Jobs among the objects of one's own are judged as those of job files: each must fit on the empty cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from make import CLUSTER, dump, write_repository
from trainyard.base.system.unforeseen import TRACEBACK
from trainyard.judge.admission.own_jobs import findings
from trainyard.judge.preflight import check_repository

Object = dict[str, Any]


def job(**spec: Any) -> Object:
    """Return a Job of two pods with a GPU each, in the queue of the team."""
    pods = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a", "resources": limits(1)}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "mine", "labels": {"kueue.x-k8s.io/queue-name": "research"}},
        "spec": {"parallelism": 2, "completions": 2, "template": {"metadata": {}, "spec": pods}, **spec},
    }


def limits(gpus: int, cpu: str = "4") -> Object:
    """Return the resources of a container."""
    return {"limits": {"cpu": cpu, "memory": "8Gi", "ephemeral-storage": "1Gi", "nvidia.com/gpu": gpus}}


def pods(value: Object) -> Object:
    """Return the pod template's spec."""
    spec: Object = value["spec"]["template"]["spec"]
    return spec


def annotate(value: Object, **notes: str) -> None:
    """Ask for a topology."""
    value["spec"]["template"]["metadata"]["annotations"] = {
        f"kueue.x-k8s.io/podset-{name.replace('_', '-')}-topology": text for name, text in notes.items()
    }


def scheduled(value: Object, **spec: Any) -> None:
    """Make a CronJob of the Job, with its queue at the template."""
    value["spec"].update(spec)
    template = {"metadata": {"labels": value["metadata"].pop("labels")}, "spec": value["spec"]}
    value.update(kind="CronJob", spec={"schedule": "0 3 * * *", "jobTemplate": template})


def pod(value: Object, gpus: int = 1, group: str = "", total: int = 2) -> None:
    """Make a plain pod of the Job, alone or in a group."""
    value.update(apiVersion="v1", kind="Pod", spec=pods(value))
    value["spec"]["containers"][0].update(resources=limits(gpus))
    if group:
        value["metadata"]["labels"]["kueue.x-k8s.io/pod-group-name"] = group
        value["metadata"]["annotations"] = {"kueue.x-k8s.io/pod-group-total-count": str(total)}


TOO_MANY = "pod set main needs 40 nvidia.com/gpu"

CASES: dict[str, tuple[Callable[[Object], object], str, str]] = {
    "a job that fits is silent": (lambda _: None, "", ""),
    "a system class of priority is on every cluster": (
        lambda value: pods(value).update(priorityClassName="system-node-critical"),
        "",
        "",
    ),
    "a job without a queue is left to another rule": (lambda value: value["metadata"].pop("labels"), "", ""),
    "a job whose queue is elsewhere waits for that": (
        lambda value: value.update(kind="Deployment", apiVersion="apps/v1"),
        "",
        "",
    ),
    "more GPUs than the queue ever has": (
        lambda value: value["spec"].update(parallelism=40, completions=40),
        "kq-never-fits",
        "pod set main needs 40 nvidia.com/gpu",
    ),
    "a CronJob whose Jobs fit": (scheduled, "", ""),
    "a CronJob whose Jobs never fit": (
        lambda value: scheduled(value, parallelism=40, completions=40),
        "kq-never-fits",
        TOO_MANY,
    ),
    "a CronJob without a queue": (
        lambda value: (scheduled(value, parallelism=40), value["spec"]["jobTemplate"]["metadata"].clear()),
        "",
        "",
    ),
    "a pod that fits": (pod, "", ""),
    "a pod that never fits": (lambda value: pod(value, gpus=40), "kq-never-fits", TOO_MANY),
    "a pod of a group that fits": (lambda value: pod(value, group="small"), "", ""),
    "the other pod of it": (lambda value: pod(value, group="small"), "", ""),
    "a pod of a group that never fits": (
        lambda value: pod(value, gpus=20, group="big"),
        "kq-never-fits",
        "needs 40 nvidia.com/gpu",
    ),
    "the other pod of it, which is the same group": (lambda value: pod(value, gpus=20, group="big"), "", ""),
    "a group that lacks a pod is left to another rule": (lambda value: pod(value, group="short"), "", ""),
    "more GPUs than a node has": (
        lambda value: pods(value)["containers"][0].update(resources=limits(16)),
        "kq-never-fits",
        "never fits",
    ),
    "a level that no topology has": (
        lambda value: annotate(value, required="example.com/rak"),
        "kq-never-fits",
        "does not contain the requested level",
    ),
    "a class of priority that is not there": (
        lambda value: value["metadata"]["labels"].update({"kueue.x-k8s.io/priority-class": "nrmal"}),
        "kq-never-fits",
        'Kueue creates no Workload: workloadpriorityclasses.kueue.x-k8s.io "nrmal" not found',
    ),
    "an object that no server takes": (lambda value: pods(value).update(containers=5), "", ""),
    "zones that nodes do not have": (
        lambda value: pods(value).update(
            topologySpreadConstraints=[
                {
                    "maxSkew": 1,
                    "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"a": "b"}},
                }
            ]
        ),
        "node/never-fits",
        "pod topology spread constraints",
    ),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, str, str]]]:
    """By case, what is said of its object: all are on one cluster, each in a file of its own."""
    config = {"managerConfig": {"controllerManagerConfigYaml": "integrations: {frameworks: [batch/job, pod]}\n"}}
    operators = {**CLUSTER["operators"], "kueue": {**CLUSTER["operators"]["kueue"], "values": config}}
    clusters = {"test": {**CLUSTER, "operators": operators}}
    root = write_repository(tmp_path_factory.mktemp("own"), clusters=clusters)
    folder = root / "platform/extra/test/teams/nlp"
    folder.mkdir(parents=True)
    for number, (change, _, _) in enumerate(CASES.values()):
        value = job()
        value["metadata"]["name"] = f"mine-{number}"
        change(value)
        (folder / f"{number}.yaml").write_text(dump(value))
    specs = check_repository(root).specs
    found: dict[str, list[tuple[str, str, str]]] = {name: [] for name in CASES}
    for finding in findings(specs, ["test"]):
        number = int(finding.location.file.rpartition("/")[2].removesuffix(".yaml"))
        found[[*CASES][number]].append((finding.rule, finding.message, finding.path or ""))
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_job_of_one_s_own_is_told_that_it_never_fits(name, said):
    """A job that gets no quota or no nodes on the empty cluster is told why, at its queue; others are not."""
    _, rule, text = CASES[name]
    assert [found[0] for found in said[name]] == ([rule] if rule else [])
    assert all(text in message for _, message, _ in said[name])
    assert all(
        path.removeprefix("spec.jobTemplate.") == 'metadata.labels["kueue.x-k8s.io/queue-name"]'
        for _, _, path in said[name]
    )


def test_a_file_with_an_error_is_told_nothing_more(tmp_path):
    """One mistake is told once: where an error stands at the file already, or it is left out, Kueue is not asked."""
    root = write_repository(tmp_path)
    file = root / "platform/extra/test/teams/nlp/large.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(dump(job(parallelism=40, completions=40)))
    specs = check_repository(root).specs
    (told,) = findings(specs, ["test"])
    assert told.is_error
    assert not [*findings(specs, ["test"], [told])]
    assert not [*findings(specs, ["test"], without=["platform/extra/test/teams/nlp/large.yaml"])]


def test_a_fault_of_ours_is_told_and_not_hidden_as_a_wrong_object(tmp_path, monkeypatch):
    """What stops Trainyard is silent for an object that the API server refuses, and an error at any other."""
    root = write_repository(tmp_path)
    folder = root / "platform/extra/test/teams/nlp"
    folder.mkdir(parents=True)
    wrong = job()
    pods(wrong).update(containers=5)
    (folder / "wrong.yaml").write_text(dump(wrong))
    (folder / "right.yaml").write_text(dump(job()))
    specs = check_repository(root).specs

    def stop(*_: object) -> None:
        raise TypeError("no such amount")

    monkeypatch.delenv(TRACEBACK, raising=False)
    monkeypatch.setattr("trainyard.judge.admission.job_workloads.bid", stop)
    (told,) = findings(specs, ["test"])
    assert told.is_error
    assert told.location.file.endswith("right.yaml")
    assert "TypeError: no such amount" in told.message
