"""Kinds make the objects of a run; each has a reviewed golden file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from make import make_cluster, make_resolved, make_run
from trainyard.base.documents import dump
from trainyard.base.manifests import identity_of
from trainyard.render.kinds import Kind, Resolved, build, kinds, resolve
from trainyard.render.launchers import Launcher, launchers
from trainyard.upstream.workloads import pod_sets_of

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
    "Several roles.": {
        "launcher": "tensorflow",
        "roles": {"ps": {"nodes": 2, "pool": "cpu", "cpusPerNode": 2}, "evaluator": {"pool": "cpu", "cpusPerNode": 2}},
    },
}


def can(kind: Kind, launcher: Launcher, job: Mapping[str, Any]) -> bool:
    """Whether a kind carries a job that a launcher starts."""
    run = make_run(kind=kind.name, **{**job, "launcher": launcher.name})
    roles = launcher.roles(run)
    return kind.can(launcher.wants(run, roles), roles)


def carried(kind: str, **job: Any) -> Resolved:
    """Return a run of that kind: by the launcher that the job names or else torchrun, or by the first that can."""
    first = launchers()[job.pop("launcher", "torchrun")]
    able = [launcher for launcher in (first, *launchers().values()) if can(kinds()[kind], launcher, job)]
    return make_resolved(kind=kind, launcher=able[0].name, **job)


PAIRS = [
    (kind, launcher) for kind in kinds() for launcher in launchers() if can(kinds()[kind], launchers()[launcher], {})
]
"""Kinds, and launchers whose gang they carry."""

CARRIED = [
    (kind, title)
    for kind in kinds()
    for title, job in CASES.items()
    if not job.get("roles") or can(kinds()[kind], launchers()[job["launcher"]], job)
]
"""Kinds, and the cases that they can carry."""


QUEUED = {name for name, kind in kinds().items() if kind.scheduler == "kueue"}
"""Kinds that Kueue admits."""


def objects(run: Resolved) -> list[dict[str, Any]]:
    """Return the objects of a run."""
    return [resource.value() for resource in build(run)]


def workload(*, kind: str = "JobSet", **job: Any) -> dict[str, Any]:
    """Return the first object of a run: what Kueue queues."""
    return objects(carried(kind, **job))[0]


def job_spec(value: dict[str, Any]) -> dict[str, Any]:
    """Return the Job spec of the worker, in a Job or a JobSet."""
    spec: dict[str, Any] = value["spec"]
    return spec if value["kind"] == "Job" else spec["replicatedJobs"][0]["template"]["spec"]


def made(*, kind: str, **job: Any) -> list[dict[str, Any]]:
    """Return the objects of a run; the first is what Kueue queues."""
    return objects(carried(kind, **job))


def template(*values: dict[str, Any]) -> dict[str, Any]:
    """Return the pod template of the workers in the objects of a run of any kind."""
    first = identity_of(values[0])
    kind = next(
        one_kind for one_kind in kinds().values() if (one_kind.group, one_kind.object_kind) == (first.group, first.kind)
    )
    called = {"main", kind.called("worker")}
    return dict(next(template for item, template in pod_sets_of(values[0], values) if item.name in called))


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_kind(kind, golden):
    """The objects of a big run, of a small one, and of one with several roles are those of the golden file."""
    text = ""
    for title in (title for name, title in CARRIED if name == kind):
        run = carried(kind, **CASES[title])
        written = (dump(value).replace(run.run.digest[:8], "digest00") for value in objects(run))
        text += f"# {title}\n" + "---\n".join(written)
    golden(f"golden/kinds/{kind}.yaml", text)


def test_every_kind_is_known_by_its_own_name():
    """The registry's name is what objects and jobs write."""
    assert {name: kind.name for name, kind in kinds().items()} == {name: name for name in kinds()}


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_every_kind_has_a_row(kind):
    """The row says where its pods are, which operator reconciles it, and of what Kueue admits how that calls it."""
    known = kinds()[kind]
    assert (known.carrier.group, known.carrier.kind) == (known.group, known.object_kind)
    assert known.carrier.trains
    assert bool(known.carrier.framework) == (known.scheduler == "kueue")
    assert bool(known.carrier.suspend) == (kind in QUEUED - {"LeaderWorkerSet"})


@pytest.mark.parametrize(("kind", "title"), CARRIED)
def test_a_kind_makes_no_objects_but_those_it_names(kind, title):
    """Whoever lets a team make what its runs consist of reads the list."""
    known = kinds()[kind]
    made = {f"{resource.identity.group}/{resource.kind}" for resource in build(carried(kind, **CASES[title]))}
    assert f"{known.group}/{known.object_kind}" in made
    assert made <= known.objects


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_objects_say_whose_they_are(kind):
    """Every object is called as the run, lies in the team's namespace, and says which field of the job it is from."""
    run = carried(kind, **CASES["A gang on whole nodes with everything."])
    for resource in build(run):
        assert (resource.name, resource.namespace) == (run.run.name, "nlp")
        assert resource.labels["trainyard.dev/run"] == run.run.name
        assert resource.source == "job"
        document = run.run.source.document
        assert document is not None
        assert not resource.at or resource.at[0] in document.value


@pytest.mark.parametrize("kind", sorted(QUEUED))
def test_only_the_workload_is_queued(kind):
    """The queue and the priority stand on the top object alone, and nothing of Kueue's own is written."""
    first, *others = objects(carried(kind, nodes=4))
    assert first["kind"] == kind
    assert first["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"
    assert first["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "normal"
    assert not {"suspend", "ttlSecondsAfterFinished", "managedBy"} & first["spec"].keys()
    assert "suspend" not in first["spec"].get("runPolicy", {})
    for other in others:
        assert not [key for key in other["metadata"]["labels"] if "kueue" in key]


@pytest.mark.parametrize(("kind", "launcher"), PAIRS)
def test_kueue_counts_the_pods_that_the_launcher_starts(kind, launcher):
    """The built object has as many pods as the roles of the run, and each role's pod set has its number."""
    run = make_resolved(kind=kind, launcher=launcher, nodes=12)
    value, *others = objects(run)
    found = [item for item, _ in pod_sets_of(value, [value, *others])]
    assert sum(item.count for item in found) == sum(role.pods for role in run.roles)
    assert {item.name: item.count for item in found} in (
        {run.kind.called(role.name): role.pods for role in run.roles},
        {"main": run.sizing.pods},
        {"master": 1, "worker": run.sizing.pods - 1},
    )


@pytest.mark.parametrize("kind", [kind for kind, launcher in PAIRS if launcher == "torchrun"])
def test_torchrun_waits_for_as_many_nodes_as_there_are_pods(kind):
    """Pod sets and `--nnodes` are one number."""
    assert "--nnodes=12" in template(*made(kind=kind, nodes=12))["spec"]["containers"][0]["args"]


HOSTS = {
    "a Job": ("Job", "worker", 3, "train-3"),
    "a JobSet": ("JobSet", "ps", 3, "train-ps-0-3"),
    "a worker of a TrainJob": ("TrainJob", "worker", 3, "train-node-0-3"),
    "another role of a TrainJob": ("TrainJob", "ps", 3, "train-ps-0-3"),
    "a TFJob": ("TFJob", "chief", 3, "train-chief-3"),
    "the first worker of a PyTorchJob": ("PyTorchJob", "worker", 0, "train-master-0"),
    "a PyTorchJob": ("PyTorchJob", "worker", 3, "train-worker-2"),
    "an XGBoostJob": ("XGBoostJob", "worker", 3, "train-worker-2"),
    "a JAXJob": ("JAXJob", "worker", 3, "train-worker-3"),
    "a PaddleJob": ("PaddleJob", "worker", 3, "train-worker-3"),
    "a worker of an MPIJob": ("MPIJob", "worker", 3, "train-worker-3"),
    "the launcher of an MPIJob": ("MPIJob", "launcher", 3, "train-launcher"),
    "a task of a Volcano Job": ("VolcanoJob", "worker", 3, "train-worker-3"),
    "the leader of a LeaderWorkerSet": ("LeaderWorkerSet", "worker", 0, "train-0"),
    "a worker of a LeaderWorkerSet": ("LeaderWorkerSet", "worker", 3, "train-0-3"),
}


@pytest.mark.parametrize(("kind", "role", "index", "expected"), HOSTS.values(), ids=HOSTS)
def test_host_names_are_what_the_operators_make_of_them(kind, role, index, expected):
    """The name that a launcher gets for a pod begins with the one whose length is counted."""
    known = kinds()[kind]
    assert known.host("train", role, index) == expected
    run = make_run(kind=kind)
    assert known.wiring(run).host(role, index).partition(".")[0] == known.host(run.name, role, index)


@pytest.mark.parametrize(("kind", "launcher"), PAIRS)
def test_what_the_operator_sets_is_left_to_it(kind, launcher):
    """No container sets a variable that its operator sets, whatever the launcher asks for."""
    known = kinds()[kind]
    env = template(*made(kind=kind, launcher=launcher, nodes=4))["spec"]["containers"][0].get("env", [])
    assert not {variable["name"] for variable in env} & known.injected("worker")


@pytest.mark.parametrize(("kind", "launcher"), PAIRS)
def test_variables_from_fields_of_the_pod_come_first(kind, launcher):
    """A value may refer to variables before it, and to no others."""
    env = template(*made(kind=kind, launcher=launcher, nodes=4))["spec"]["containers"][0].get("env", [])
    of_fields = ["fieldRef" in variable.get("valueFrom", {}) for variable in env]
    assert of_fields == sorted(of_fields, reverse=True)


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_no_rule_of_argo_cd_lies_inside_a_list(kind):
    """It would write the whole live list back; where templates stand in a map, a rule may go through them."""
    known = kinds()[kind]
    found = known.carrier.pod_sets(workload(kind=kind))
    in_list = any(isinstance(part, int) for item in found for part in item.template)
    paths = [path for rule in known.ignore for path in rule.get("jqPathExpressions", ())]
    assert not (in_list and any("[" in path for path in paths))


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_no_rule_for_argo_cd_from_3_6_on_looks_into_a_map(kind):
    """Its sync would fail for good once a run of the kind is there, and hold up all later runs of the team."""
    known, value = kinds()[kind], workload(kind=kind)
    for rule in known.ignored("3.6.0") if known.group != "batch" else ():
        for path in rule.get("jqPathExpressions", ()):
            found = value
            for name in path.partition("[")[0].strip(".").split("."):
                found = found.get(name, [])
            assert not isinstance(found, Mapping), path
    assert known.ignored("3.5.1") == known.ignore


@pytest.mark.parametrize("kind", ["Job", "JobSet"])
def test_ranks_are_indices_of_a_job(kind):
    """The Job's own numbers are those of its pods, which run all at once and are told apart by index."""
    spec = job_spec(workload(kind=kind, nodes=12))
    assert (spec["parallelism"], spec["completions"], spec["completionMode"]) == (12, 12, "Indexed")


def test_pods_of_a_job_find_each_other():
    """The Service is headless, takes the Job's pods before they are ready, and is their subdomain and master's."""
    run = make_run(kind="Job")
    job, service = objects(resolve(run))
    template = job["spec"]["template"]
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert service["spec"]["selector"] == {"batch.kubernetes.io/job-name": job["metadata"]["name"]}
    assert template["spec"]["subdomain"] == service["metadata"]["name"]
    assert f"--master-addr={run.name}-0.{run.name}" in template["spec"]["containers"][0]["args"]


def test_a_single_pod_needs_no_service():
    """One pod has nobody to find."""
    [job] = objects(make_resolved(kind="Job", nodes=1))
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


@pytest.mark.parametrize("kind", sorted(QUEUED))
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


def test_pods_of_a_tfjob_have_its_deadline():
    """Its operator looks at the clock when a pod ends, and at no other time; without maxHours nothing ends them."""
    job = workload(kind="TFJob", max_hours=2)
    assert job["spec"]["runPolicy"]["activeDeadlineSeconds"] == 7200
    assert template(job)["spec"]["activeDeadlineSeconds"] == 7200
    assert "activeDeadlineSeconds" not in template(*made(kind="TFJob"))["spec"]


def test_an_elastic_job_may_start_smaller():
    """Kueue may admit an elastic Job with fewer pods, and the launcher takes the range."""
    value = workload(kind="Job", nodes=4, min_nodes=2)
    assert value["metadata"]["annotations"] == {
        "kueue.x-k8s.io/job-completions-equal-parallelism": "true",
        "kueue.x-k8s.io/job-min-parallelism": "2",
    }
    assert "--nnodes=2:4" in job_spec(value)["template"]["spec"]["containers"][0]["args"]


def test_an_elastic_job_is_done_when_its_first_pod_is():
    """Index 0 hosts the store and waits for the others; a pod that comes after the end finds nobody and fails."""
    spec = job_spec(workload(kind="Job", nodes=4, min_nodes=2))
    assert spec["successPolicy"] == {"rules": [{"succeededIndexes": "0", "succeededCount": 1}]}
    assert "successPolicy" not in job_spec(workload(kind="Job", nodes=4))


@pytest.mark.parametrize(("kind", "title"), CARRIED)
def test_pods_of_a_dead_node_may_be_deleted(kind, title):
    """Every pod of every role says so to Kueue; a run waits for one that stays Terminating."""
    value, *others = objects(carried(kind, **CASES[title]))
    found = pod_sets_of(value, [value, *others])
    assert found
    for _, template in found:
        assert template["metadata"]["annotations"]["kueue.x-k8s.io/safe-to-forcefully-delete"] == "true"


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
            [variable["value"] for variable in pod["spec"]["containers"][0]["env"] if variable["name"] == "NCCL_DEBUG"]
            == ["INFO"]
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
    assert holds(template(*made(kind=kind, patches=[given])))


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
    jobset, config = objects(make_resolved(patches=given, **files))
    assert jobset["spec"]["failurePolicy"]["maxRestarts"] == 9
    assert jobset["spec"]["failurePolicy"]["restartStrategy"] == "BlockingRecreate"
    assert jobset["metadata"]["labels"]["example.com/a"] == "b"
    assert jobset["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"
    assert job_spec(jobset)["backoffLimit"] == 1
    assert config["data"] == {"b.yaml": "2"}


def test_a_kind_that_is_gone_stops():
    """A run whose kind nobody brings cannot be resolved; preflight says so before anybody tries."""
    with pytest.raises(KeyError, match="Gone"):
        make_resolved(kind="Gone")


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_building_twice_gives_the_same(kind):
    """Objects depend on the run alone."""
    run = carried(kind, nodes=4)
    again = resolve(run.run)
    assert list(build(run)) == list(build(again))
    assert run.sizing == again.sizing


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_a_job_s_own_container_holds_no_kind(kind):
    """Whatever runs beside the program is a sidecar of the workers, so that the kind sees the program's end alone."""
    side = {"name": "logs", "image": "registry.example.com/logs@sha256:" + "4f0c7e2ab95d8136" * 4}
    spec = template(*made(kind=kind, nodes=4, containers=[side]))["spec"]
    assert [one_container["name"] for one_container in spec["containers"]] == [kinds()[kind].container]
    assert [(init_container["name"], init_container["restartPolicy"]) for init_container in spec["initContainers"]] == [
        ("logs", "Always")
    ]
