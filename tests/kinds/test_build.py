"""Kinds make the objects of a run; each has a reviewed golden file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from trainyard.workloads import workloads

from make import make_cluster, make_run
from trainyard.documents import dump
from trainyard.errors import TrainyardError
from trainyard.kinds import build, kinds
from trainyard.kinds.patches import merge
from trainyard.launchers import launchers
from trainyard.parts.objects import new_app
from trainyard.sizing import size
from trainyard.specs.run import Run

pytestmark = pytest.mark.node
SRIOV = {"sriov-network-operator": {"version": "1.6.0"}}
ROCE = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16"}
CASES: dict[str, dict[str, Any]] = {
    "A gang on whole nodes with everything.": {
        "nodes": 4,
        "fabric": "rdma",
        "cluster": make_cluster(fabric=ROCE, operators=SRIOV),
        "topology": {"required": "rack"},
        "args": ["--config", "/etc/llm/8b.yaml"],
        "files": [{"source": "8b.yaml", "mountPath": "/etc/llm"}],
        "contents": {"8b.yaml": "layers: 32\n"},
        "checkpoint": {"volume": "checkpoints", "size": "105Gi"},
        "secrets": {"WANDB_API_KEY": "tokens/wandb"},
        "max_hours": 72,
    },
    "One pod on CPUs.": {"nodes": 1, "pool": "cpu", "gpus_per_node": 0, "launcher": "python", "priority": None},
}


def objects(run: Run) -> list[dict[str, Any]]:
    """Return the objects of a run."""
    return [value for value, _ in build(run, new_app()).objects()]


def workload(**job: Any) -> dict[str, Any]:
    """Return the first object of a run: what Kueue queues."""
    return objects(make_run(**job))[0]


def job_spec(value: dict[str, Any]) -> dict[str, Any]:
    """Return the Job spec of the worker, in a Job or a JobSet."""
    spec: dict[str, Any] = value["spec"]
    return spec if value["kind"] == "Job" else spec["replicatedJobs"][0]["template"]["spec"]


def template(value: dict[str, Any]) -> dict[str, Any]:
    """Return the first pod template of a workload of any kind."""
    found: Any = value
    for part in workloads()[value["kind"]].pod_sets(value)[0].template:
        found = found[part]
    return dict(found)


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_kind(kind, golden):
    """The objects of a big and of a small run are those of the golden file."""
    text = ""
    for title, job in CASES.items():
        run = make_run(kind=kind, **job)
        text += f"# {title}\n" + "---\n".join(dump(value).replace(run.digest, "digest00") for value in objects(run))
    golden(f"golden/kinds/{kind}.yaml", text)


def test_registry_and_facts_agree():
    """Every kind that can be rendered has its facts, under the same name."""
    assert {name: kind.name for name, kind in kinds().items()} == {name: name for name in kinds()}
    assert kinds().keys() <= workloads().keys()


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_objects_say_whose_they_are(kind):
    """Every object is called as the run, lies in the team's namespace, and says which spec field it comes from."""
    run = make_run(kind=kind, **CASES["A gang on whole nodes with everything."])
    for value, origin in build(run, new_app()).objects():
        assert value["metadata"]["name"] == run.name
        assert value["metadata"]["namespace"] == "nlp"
        assert value["metadata"]["labels"]["trainyard.dev/run"] == run.name
        assert origin.file == "jobs/nlp/train.yaml"


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_only_the_workload_is_queued(kind):
    """The queue and the priority stand on the top object alone, and nothing of Kueue's own is written."""
    run = make_run(kind=kind, nodes=4)
    first, *others = objects(run)
    assert first["kind"] == kind
    assert first["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"
    assert first["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "normal"
    assert not {"suspend", "ttlSecondsAfterFinished", "managedBy"} & first["spec"].keys()
    for other in others:
        assert not [key for key in other["metadata"]["labels"] if "kueue" in key]


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_kueue_counts_the_pods_that_the_launcher_starts(kind):
    """Pod sets and `--nnodes` are one number, and the last pod has the name that was counted."""
    run = make_run(kind=kind, nodes=12)
    value = objects(run)[0]
    facts = workloads()[kind]
    assert sum(each.count for each in facts.pod_sets(value)) == 12
    assert facts.pod_names(value)[-1] == facts.host(run.name, "worker", 11)
    assert "--nnodes=12" in template(value)["spec"]["containers"][0]["args"]


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_what_the_operator_sets_is_left_to_it(kind):
    """No container sets a variable that its operator sets, whatever the launcher asks for."""
    for launcher in sorted(workloads()[kind].launchers or launchers()):
        value = workload(kind=kind, launcher=launcher, nodes=4)
        env = template(value)["spec"]["containers"][0]["env"]
        assert not {each["name"] for each in env} & workloads()[kind].injected


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_no_rule_of_argo_cd_lies_inside_a_list(kind):
    """It would write the whole live list back; where templates stand in a map, a rule may go through them."""
    facts = workloads()[kind]
    in_list = any(isinstance(part, int) for each in facts.pod_sets(workload(kind=kind)) for part in each.template)
    paths = [path for rule in facts.ignore for path in rule.get("jqPathExpressions", ())]
    assert not (in_list and any("[" in path for path in paths))


@pytest.mark.parametrize("kind", ["Job", "JobSet"])
def test_ranks_are_indices_of_a_job(kind):
    """The Job's own numbers are those of its pods, which run all at once and are told apart by index."""
    spec = job_spec(workload(kind=kind, nodes=12))
    assert (spec["parallelism"], spec["completions"], spec["completionMode"]) == (12, 12, "Indexed")


def test_pods_of_a_job_find_each_other():
    """The Service is headless, takes the Job's pods before they are ready, and is their subdomain and master's."""
    run = make_run(kind="Job")
    job, service = objects(run)
    template = job["spec"]["template"]
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert service["spec"]["selector"] == {"batch.kubernetes.io/job-name": job["metadata"]["name"]}
    assert template["spec"]["subdomain"] == service["metadata"]["name"]
    assert f"--master-addr={run.name}-0.{run.name}" in template["spec"]["containers"][0]["args"]


def test_a_single_pod_needs_no_service():
    """One pod has nobody to find."""
    [job] = objects(make_run(kind="Job", nodes=1))
    assert "subdomain" not in job["spec"]["template"]["spec"]


RESTARTS = {
    "a Job replaces every pod of the gang": ("Job", {"nodes": 4, "restarts": 2}, 8, "Ignore"),
    "a Job of one pod": ("Job", {"nodes": 1, "restarts": 2}, 2, "Ignore"),
    "a JobSet owns the restart": ("JobSet", {"nodes": 4, "restarts": 2}, 0, "FailJob"),
}


@pytest.mark.parametrize(("kind", "job", "backoff", "disrupted"), RESTARTS.values(), ids=RESTARTS)
def test_the_kind_restarts_the_gang(kind, job, backoff, disrupted):
    """Disruptions cost no restart, failures one each, and what no retry mends ends the run."""
    spec = job_spec(workload(kind=kind, **job))
    assert spec["backoffLimit"] == backoff
    assert spec["podReplacementPolicy"] == "Failed"
    assert [rule["action"] for rule in spec["podFailurePolicy"]["rules"]] == [disrupted, "FailJob"]
    assert spec["podFailurePolicy"]["rules"][1]["onExitCodes"]["values"] == [2, 126, 127]
    assert spec["template"]["spec"]["restartPolicy"] == "Never"


def test_a_jobset_tells_disruptions_from_failures():
    """Rules are tried in order: a disruption restarts for nothing, what no retry mends and lateness end it."""
    policy = workload(kind="JobSet", restarts=5)["spec"]["failurePolicy"]
    assert policy["maxRestarts"] == 5
    assert [rule["action"] for rule in policy["rules"]] == [
        "RestartJobSetAndIgnoreMaxRestarts",
        "FailJobSet",
        "FailJobSet",
    ]
    assert policy["rules"][0]["onJobFailureMessagePatterns"] == ["has condition DisruptionTarget"]


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_kueue_ends_a_run_that_is_late(kind):
    """It ends the run with all its restarts, ten minutes after the deadline; without maxHours nothing does."""
    label = "kueue.x-k8s.io/max-exec-time-seconds"
    assert workload(kind=kind, max_hours=2)["metadata"]["labels"][label] == "7800"
    assert label not in workload(kind=kind)["metadata"]["labels"]


@pytest.mark.parametrize("kind", ["Job", "JobSet"])
def test_a_job_ends_at_its_deadline(kind):
    """The Job ends before Kueue ends the run; without maxHours nothing does."""
    assert job_spec(workload(kind=kind, max_hours=2))["activeDeadlineSeconds"] == 7200
    assert "activeDeadlineSeconds" not in job_spec(workload(kind=kind))


def test_an_elastic_job_may_start_smaller():
    """Kueue may admit an elastic Job with fewer pods, and the launcher takes the range."""
    value = workload(kind="Job", nodes=4, min_nodes=2)
    assert value["metadata"]["annotations"] == {
        "kueue.x-k8s.io/job-completions-equal-parallelism": "true",
        "kueue.x-k8s.io/job-min-parallelism": "2",
    }
    assert "--nnodes=2:4" in job_spec(value)["template"]["spec"]["containers"][0]["args"]


def test_a_jobset_is_applied_by_the_server():
    """Argo CD's own apply would replace the list of replicated jobs, which the webhook refuses."""
    assert workload(kind="JobSet")["metadata"]["annotations"] == {
        "argocd.argoproj.io/sync-options": "ServerSideApply=true"
    }


def patch(kind: str, content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a patch as a job writes it."""
    return {"object": kind, "merge": content, "reason": "a test", **fields}


TRAINER = "name of the container"


def container(**fields: Any) -> dict[str, Any]:
    """Return a merge of the training container, whose name the kind says."""
    return {"spec": {"containers": [{"name": TRAINER, **fields}]}}


PATCHES = {
    "one variable of the container": (
        patch("Pod", container(env=[{"name": "NCCL_DEBUG", "value": "INFO"}]), role="worker"),
        lambda pod: (
            [each["value"] for each in pod["spec"]["containers"][0]["env"] if each["name"] == "NCCL_DEBUG"] == ["INFO"]
        ),
    ),
    "a field of the pod": (
        patch("Pod", {"spec": {"terminationGracePeriodSeconds": 5}}),
        lambda pod: pod["spec"]["terminationGracePeriodSeconds"] == 5 and "securityContext" in pod["spec"],
    ),
    "null removes": (
        patch("Pod", {"spec": {"nodeSelector": {"trainyard.dev/pool": None, "example.com/x": "y"}}}),
        lambda pod: pod["spec"]["nodeSelector"] == {"example.com/x": "y"},
    ),
    "a quantity is made canonical": (
        patch("Pod", container(resources={"limits": {"cpu": 4}})),
        lambda pod: pod["spec"]["containers"][0]["resources"]["limits"]["cpu"] == "4",
    ),
}


@pytest.mark.parametrize(("given", "holds"), PATCHES.values(), ids=PATCHES)
@pytest.mark.parametrize("kind", sorted(kinds()))
def test_patches_of_the_pod(kind, given, holds):
    """A patch of the pod reaches the template of its role, in every kind."""
    given = json.loads(json.dumps(given).replace(TRAINER, kinds()[kind].container))
    assert holds(template(workload(kind=kind, patches=[given])))


def test_patches_of_other_objects():
    """Patches reach the workload, a role's Job inside it, the Service and the files."""
    given = [
        patch(
            "JobSet", {"spec": {"failurePolicy": {"maxRestarts": 9}}, "metadata": {"labels": {"example.com/a": "b"}}}
        ),
        patch("Job", {"spec": {"backoffLimit": 1}}, role="worker"),
        patch("ConfigMap", {"data": {"a.yaml": None, "b.yaml": "2"}}),
    ]
    files = {"files": [{"source": "a.yaml", "mountPath": "/etc/a"}], "contents": {"a.yaml": "1"}}
    jobset, config = objects(make_run(patches=given, **files))
    assert jobset["spec"]["failurePolicy"]["maxRestarts"] == 9
    assert jobset["spec"]["failurePolicy"]["restartStrategy"] == "BlockingRecreate"
    assert jobset["metadata"]["labels"]["example.com/a"] == "b"
    assert jobset["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"
    assert job_spec(jobset)["backoffLimit"] == 1
    assert config["data"] == {"b.yaml": "2"}


MERGES = {
    "lists by their key": (
        {"volumes": [{"name": "a", "x": 1}, {"name": "b"}]},
        {"volumes": [{"name": "b", "y": 2}, {"name": "c"}]},
        {"volumes": [{"name": "a", "x": 1}, {"name": "b", "y": 2}, {"name": "c"}]},
    ),
    "mounts by path": (
        {"volumeMounts": [{"name": "a", "mountPath": "/a"}]},
        {"volumeMounts": [{"name": "b", "mountPath": "/a"}]},
        {"volumeMounts": [{"name": "b", "mountPath": "/a"}]},
    ),
    "ports of a container and of a Service": (
        {"ports": [{"containerPort": 1}, {"port": 2}]},
        {"ports": [{"containerPort": 1, "name": "a"}, {"port": 2, "name": "b"}]},
        {"ports": [{"containerPort": 1, "name": "a"}, {"port": 2, "name": "b"}]},
    ),
    "an item is deleted by its key": (
        {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        {"env": [{"name": "A", "$patch": "delete"}]},
        {"env": [{"name": "B", "value": "2"}]},
    ),
    "a list without keys is replaced": ({"args": ["a", "b"]}, {"args": ["c"]}, {"args": ["c"]}),
    "null removes, deep down": ({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}),
    "null in what is new is nothing": ({}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    "a value takes the place of a map": ({"a": {"b": 1}}, {"a": 1}, {"a": 1}),
    "items without a key are added": ({"env": [1]}, {"env": [2]}, {"env": [1, 2]}),
}


@pytest.mark.parametrize(("body", "given", "expected"), MERGES.values(), ids=MERGES)
def test_merge(body, given, expected):
    """Lists are merged by the keys that Kubernetes merges them by; the order of what was there stays."""
    before = repr(body)
    assert merge(body, given) == expected
    assert repr(body) == before


def test_a_kind_that_is_gone_stops():
    """A run whose kind nobody brings cannot be rendered, and that is no finding of the job's."""
    with pytest.raises(TrainyardError, match="kind 'Gone'"):
        build(make_run(kind="Gone"), new_app())


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_rendering_twice_gives_the_same(kind):
    """Objects depend on the run alone."""
    run = make_run(kind=kind, nodes=4)
    assert objects(run) == objects(run)
    assert size(run) == size(run)


PAIR = "launcher 'torchrun' cannot run in kind 'OwnJob'; kinds that can: Job, JobSet"
FACTS = """
from dataclasses import replace

from trainyard.workloads.job import WORKLOAD as JOB

WORKLOAD = replace(JOB, launchers=frozenset({"bash"}))
"""
OWN = """
from trainyard.kinds.job import Job
from trainyard.launchers import Launcher, Role


class Bash(Launcher):
    name = "bash"

    def roles(self, run, sizing, wiring):
        return (Role(sizing.worker, ("bash", run.job.program)),)


class OwnJob(Job):
    name = "OwnJob"
    container = "own"


LAUNCHER = Bash()
"""
SHOW = """
import sys

from make import make_cluster, make_job_file, make_specs
from trainyard.workloads.resolve import resolve

_, [finding] = resolve(make_specs(make_job_file(kind="OwnJob", launcher="torchrun")))
[run], findings = resolve(make_specs(make_job_file(kind="OwnJob", launcher="bash")))
print(finding.message, findings, "cdk8s" in sys.modules)

from trainyard.kinds import build
from trainyard.launchers import check
from trainyard.parts.objects import new_app

container = build(run, new_app()).objects()[0][0]["spec"]["template"]["spec"]["containers"][0]
print(check(run), container["name"], container["command"])
"""


def test_own_launchers_and_kinds_come_by_entry_points(tmp_path):
    """A package that is installed beside Trainyard brings a launcher, a kind and its facts; nothing here changes."""
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "own_facts.py").write_text(FACTS)
    (tmp_path / "own-1.dist-info").mkdir()
    (tmp_path / "own-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1\n")
    (tmp_path / "own-1.dist-info" / "entry_points.txt").write_text(
        "[trainyard.launchers]\nbash = own:LAUNCHER\n"
        "[trainyard.kinds]\nOwnJob = own:OwnJob\n"
        "[trainyard.workloads]\nOwnJob = own_facts:WORKLOAD\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run([sys.executable, "-c", SHOW], env={"PYTHONPATH": path}, capture_output=True, text=True)
    assert (done.stderr, done.stdout) == ("", f"{PAIR} [] False\n[] own ['bash', 'train.py']\n")
