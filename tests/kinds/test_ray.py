"""What Ray asks of a rendered cluster, and what KubeRay and Kueue make of it."""

from __future__ import annotations

import shlex
import subprocess
from typing import Any

import pytest

import lua51
from everything import OPERATORS, everything
from make import make_cluster, make_job_file, make_resolved, make_specs, make_team
from trainyard.judge import preflight
from trainyard.render.clusters.nets import policies
from trainyard.render.kinds import Resolved, build, kinds
from trainyard.render.kinds.raycluster import ENDLESS
from trainyard.render.launchers.ray import HEAD, shell
from trainyard.render.sizing import WORKER

KUBERAY = {"kueue": {"version": "0.19.2"}, "kuberay": {"version": "1.6.2"}}
KUBERAY_AND_JOBSET = {**KUBERAY, "jobset": {"version": "0.12.0"}}


def resolved(kind: str = "RayJob", **job: Any) -> Resolved:
    """Return a run by Ray: two workers of eight GPUs unless said otherwise."""
    return make_resolved(kind=kind, launcher="ray", cluster=make_cluster(operators=KUBERAY), **job)


def spec(kind: str = "RayJob", **job: Any) -> dict[str, Any]:
    """Return the specification of the workload."""
    found: dict[str, Any] = next(build(resolved(kind, **job))).value()["spec"]
    return found


def cluster(kind: str = "RayJob", **job: Any) -> dict[str, Any]:
    """Return the specification of its Ray cluster."""
    found = spec(kind, **job)
    return dict(found["rayClusterSpec"] if kind == "RayJob" else found)


def container(group: dict[str, Any]) -> dict[str, Any]:
    """Return the container of a group, which is the first and the only one."""
    (found,) = group["template"]["spec"]["containers"]
    return dict(found)


def variables(group: dict[str, Any]) -> dict[str, str]:
    """Return the variables of a group that have a value."""
    return {variable["name"]: variable["value"] for variable in container(group)["env"] if "value" in variable}


BOTH = pytest.mark.parametrize("kind", ["RayJob", "RayCluster"])


@BOTH
def test_the_head_takes_no_work_of_ray_s(kind):
    """A task on the head could end the process that all others need; the driver alone runs there."""
    head = cluster(kind)["headGroupSpec"]
    assert head["rayStartParams"]["num-cpus"] == "0"
    assert "num-gpus" not in head["rayStartParams"]
    assert not [name for name in container(head)["resources"]["limits"] if "gpu" in name]


@BOTH
def test_a_group_has_a_size_that_stays(kind):
    """KubeRay refuses a group without bounds, and Kueue one that scales itself."""
    found = cluster(kind, nodes=3)
    (group,) = found["workerGroupSpecs"]
    assert (group["replicas"], group["minReplicas"], group["maxReplicas"], group["numOfHosts"]) == (3, 3, 3, 1)
    assert "enableInTreeAutoscaling" not in found


@BOTH
def test_ray_finds_its_resources_by_the_limits(kind):
    """KubeRay takes CPUs and memory from the limits; GPUs are said, since it knows few of their names."""
    (group,) = cluster(kind, gpus_per_node=4)["workerGroupSpecs"]
    assert container(group)["resources"]["limits"].keys() >= {"cpu", "memory", "nvidia.com/gpu"}
    assert not {"num-cpus", "memory", "resources"} & group["rayStartParams"].keys()
    assert group["rayStartParams"]["num-gpus"] == "4"
    (without,) = cluster(kind, pool="cpu", gpus_per_node=0, cpus_per_node=4)["workerGroupSpecs"]
    assert "num-gpus" not in without["rayStartParams"]


@BOTH
@pytest.mark.parametrize("asked", [None, "20Gi"])
def test_the_object_store_fits_shared_memory(kind, asked):
    """Ray takes a folder on disk otherwise; there is one volume at /dev/shm, so that KubeRay adds none."""
    found = cluster(kind, shared_memory=asked)
    for group in (found["headGroupSpec"], *found["workerGroupSpecs"]):
        pod = group["template"]["spec"]
        (volume,) = (
            one_volume["emptyDir"]
            for one_volume in pod["volumes"]
            if one_volume.get("emptyDir", {}).get("medium") == "Memory"
        )
        assert [volume_mount["mountPath"] for volume_mount in container(group)["volumeMounts"]].count("/dev/shm") == 1
        store = int(group["rayStartParams"]["object-store-memory"])
        assert 2 * store == int(volume["sizeLimit"].removesuffix("Gi")) * 2**30


def test_all_containers_of_a_rayjob_are_of_one_image_and_restricted():
    """Ray of another release does not answer, and Pod Security looks at the submitter too."""
    found = spec()
    groups = [found["rayClusterSpec"]["headGroupSpec"], *found["rayClusterSpec"]["workerGroupSpecs"]]
    pods = [group["template"]["spec"] for group in groups] + [found["submitterPodTemplate"]["spec"]]
    assert len({one_container["image"] for pod in pods for one_container in pod["containers"]}) == 1
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert [
            one_container["securityContext"]["allowPrivilegeEscalation"] for one_container in pod["containers"]
        ] == [False]


def test_the_submitter_waits_for_no_grace():
    """It saves nothing, heeds no signal, and must leave its node when Kueue has given the quota to others."""
    found = spec(grace_seconds=600)
    assert found["submitterPodTemplate"]["spec"]["terminationGracePeriodSeconds"] == 1
    (group,) = found["rayClusterSpec"]["workerGroupSpecs"]
    assert group["template"]["spec"]["terminationGracePeriodSeconds"] == 600


def test_pods_go_where_their_roles_do():
    """The head may have a pool of its own, and the submitter goes with it."""
    run = resolved(roles={"head": {"pool": "cpu", "cpusPerNode": 4, "memoryPerNode": "8Gi"}})
    pools = {role.name: (role.size.pool, role.size.cpus.value) for role in run.roles}
    assert pools == {"worker": ("gpu", 208), "head": ("cpu", 4), "submitter": ("cpu", 2)}
    found = spec(roles={"head": {"pool": "cpu", "cpusPerNode": 4, "memoryPerNode": "8Gi"}})
    selected = [
        found["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["nodeSelector"],
        found["submitterPodTemplate"]["spec"]["nodeSelector"],
    ]
    assert selected == [{"trainyard.dev/pool": "cpu"}] * 2


ENDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "as often as the head is likely to be lost": ({"nodes": 4}, {"backoffLimit": 3}),
    "never": ({"restarts": 0}, {"backoffLimit": 0}),
    "as the job says": ({"restarts": 2}, {"backoffLimit": 2}),
    "after a deadline": ({"max_hours": 2}, {"activeDeadlineSeconds": 7200}),
}


@pytest.mark.parametrize(("job", "expected"), ENDS.values(), ids=ENDS)
def test_how_a_rayjob_ends(job, expected):
    """Its cluster goes with the driver, and the driver starts again on a new one."""
    found = spec(**job)
    assert {name: found[name] for name in expected} == expected
    assert found["shutdownAfterJobFinishes"] is True
    assert found["submissionMode"] == "K8sJobMode"
    assert "ttlSecondsAfterFinished" not in found


def test_the_driver_asks_for_what_the_workers_have():
    """Otherwise it waits for ever for what is not there, or leaves nodes idle; what Ray Train gets over is said too."""
    head = cluster(nodes=3, gpus_per_node=8, processes_per_node=4, restarts=7)["headGroupSpec"]
    told = {name: value for name, value in variables(head).items() if name.startswith("TRAIN_")}
    assert told == {
        "TRAIN_WORKERS": "12",
        "TRAIN_WORKER_CPUS": "51",
        "TRAIN_WORKER_GPUS": "2",
        "TRAIN_MAX_FAILURES": "7",
    }
    (size,) = [sized.value for name, sized in resolved(nodes=3, processes_per_node=4).facts() if name == "world_size"]
    assert size == 12


def test_only_pods_with_ranks_are_near_each_other():
    """The head talks little, and Kueue would look for a rack for it alone."""
    found = cluster(nodes=4, topology={"required": "rack"})
    key = "kueue.x-k8s.io/podset-required-topology"
    (group,) = found["workerGroupSpecs"]
    assert group["template"]["metadata"]["annotations"][key] == "example.com/rack"
    assert key not in found["headGroupSpec"]["template"]["metadata"]["annotations"]


def test_the_operator_starts_ray():
    """A command of ours would run before `ray start`, in its shell; the head of a RayCluster alone has one."""
    job, alone = cluster("RayJob"), cluster("RayCluster")
    assert "command" not in container(job["headGroupSpec"])
    assert container(alone["headGroupSpec"])["command"] == ["sh", "/etc/trainyard/submit.sh", "3"]
    for found in (job, alone):
        assert "command" not in container(found["workerGroupSpecs"][0])


def test_the_driver_is_submitted_as_a_file():
    """Two shells read a command line on its way to Ray, so the program's words stand in a file."""
    run = resolved(args=["--name", "a b"])
    job, config = (item.value() for item in build(run))
    assert shlex.split(job["spec"]["entrypoint"]) == ["sh", "/etc/trainyard/driver.sh"]
    assert config["data"]["launch.driver.sh"].endswith("exec python train.py --name 'a b'\n")


WORDS = {
    "plain": (["--rate", "1e-4"], ["--rate", "1e-4"]),
    "spaces and quotes": (["a b", "it's", '"x"', ""], ["a b", "it's", '"x"', ""]),
    "nothing that a shell would read": (["$HOME", "`id`", "$(id -u)", "*"], ["$HOME", "`id`", "$(id -u)", "*"]),
    "a variable": (["$(RUN_NAME)", "x-$(RUN_NAME)/y"], ["run 1", "x-run 1/y"]),
    "a variable that is not there": (["$(NOBODY)"], ["$(NOBODY)"]),
    "no variable": (["$$(RUN_NAME)", "$$"], ["$(RUN_NAME)", "$"]),
}


@pytest.mark.parametrize(("words", "expected"), WORDS.values(), ids=WORDS)
def test_words_of_the_driver_are_read_as_the_kubelet_reads_them(words, expected):
    """A shell starts the driver, with variables put in as in the command line of a container."""
    command = f"printf '%s\\n' {shell(words)}"
    env = {"RUN_NAME": "run 1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == expected


def test_the_kubelet_is_asked_about_what_the_operator_adds():
    """A worker waits for the head in an init container, which counts where it is larger than what comes after."""
    run = resolved()
    assert [init_container["name"] for init_container in run.kind.arriving(WORKER, {})["initContainers"]] == [
        "wait-gcs-ready"
    ]
    assert run.kind.arriving(HEAD, {}) == {}


def test_a_cluster_that_nothing_ends_is_told_so():
    """A RayCluster keeps its GPUs whatever its program does; Kueue ends it when maxHours are over."""
    assert [item.rule for item in resolved("RayCluster").kind.check(resolved("RayCluster"))] == [ENDLESS.id]
    assert list(resolved("RayCluster").kind.check(resolved("RayCluster", max_hours=8))) == []
    assert list(resolved().kind.check(resolved())) == []


def state(value: dict[str, Any], kind: str) -> tuple[str, str]:
    """Return what Argo CD shows of an object."""
    status, message = lua51.health(kinds()[kind].health or "", value)
    return status, message or ""


def said(word: str, **status: Any) -> dict[str, Any]:
    """Return a RayJob that says a word of how it is deployed."""
    return {"spec": {"suspend": word == "Suspended"}, "status": {"jobDeploymentStatus": word, **status}}


JOBS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "just made": ({"spec": {}}, ("Progressing", "Waiting for the controller")),
    "just made in a queue": ({"spec": {"suspend": True}}, ("Suspended", "Queued or stopped")),
    "queued": (said("Suspended"), ("Suspended", "Queued or stopped")),
    "being preempted": (said("Suspending"), ("Suspended", "Queued or stopped")),
    "starting": (said("Initializing"), ("Progressing", "Initializing")),
    "running": (said("Running", jobStatus="RUNNING"), ("Progressing", "Running")),
    "running again": (said("Running", failed=2), ("Progressing", "Running, failed 2 times")),
    "between two attempts": (said("Retrying", failed=1), ("Progressing", "Retrying, failed 1 times")),
    "done": (
        said("Complete", jobStatus="SUCCEEDED", message="Job finished successfully."),
        ("Healthy", "Job finished successfully."),
    ),
    "stopped by somebody": (said("Complete", jobStatus="STOPPED"), ("Degraded", "The driver was stopped")),
    "failed": (said("Failed", reason="AppFailed", message=""), ("Degraded", "AppFailed")),
    "late": (said("Failed", reason="DeadlineExceeded", message="too late"), ("Degraded", "too late")),
    "refused": (said("ValidationFailed", message="no workers"), ("Degraded", "no workers")),
}


@pytest.mark.parametrize(("value", "shown"), JOBS.values(), ids=JOBS)
def test_health_of_a_rayjob(value, shown):
    """It has no conditions, and says in a word how far it is."""
    assert state(value, "RayJob") == shown


def conditions(*, suspend: bool = False, ready: int = 0, **found: bool) -> dict[str, Any]:
    """Return a RayCluster of two workers as the cluster has it."""
    listed = [{"type": name, "status": str(value), "message": name} for name, value in found.items()]
    status = {"conditions": listed, "state": "suspended", "readyWorkerReplicas": ready, "desiredWorkerReplicas": 2}
    return {"spec": {"suspend": suspend}, "status": status}


CLUSTERS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "just made": ({"spec": {}}, ("Progressing", "Waiting for the controller")),
    "queued": (conditions(suspend=True, RayClusterSuspended=True), ("Suspended", "Queued or stopped")),
    "starting": (conditions(RayClusterSuspended=False, HeadPodReady=False), ("Progressing", "0 of 2 workers ready")),
    "without workers": (conditions(HeadPodReady=True, ready=1), ("Progressing", "1 of 2 workers ready")),
    "running": (conditions(RayClusterSuspended=False, HeadPodReady=True, ready=2), ("Healthy", "2 of 2 workers ready")),
    "without pods": (conditions(ReplicaFailure=True), ("Degraded", "ReplicaFailure")),
}


@pytest.mark.parametrize(("value", "shown"), CLUSTERS.values(), ids=CLUSTERS)
def test_health_of_a_raycluster(value, shown):
    """Its state still says that it is suspended while it starts; conditions and numbers do not."""
    assert state(value, "RayCluster") == shown


CANNOT = {
    "ranks that find each other": (
        {"kind": "RayJob", "launcher": "torchrun"},
        "launcher 'torchrun' cannot run in kind",
    ),
    "a single pod of them": (
        {"kind": "RayCluster", "launcher": "torchrun", "nodes": 1},
        "launcher 'torchrun' cannot run in kind 'RayCluster'",
    ),
    "a driver without Ray": (
        {"kind": "JobSet", "launcher": "ray", "max_hours": 2},
        (
            "launcher 'ray' cannot run in kind 'JobSet', which does not provide 'ray'; kinds that can: RayJob, "
            "RayCluster"
        ),
    ),
    "two heads": (
        {"kind": "RayJob", "launcher": "ray", "roles": {"head": {"nodes": 2, "cpusPerNode": 2}}},
        "role 'head' has 2 nodes, but only one pod is possible; remove nodes",
    ),
    "fewer nodes": (
        {"kind": "RayJob", "launcher": "ray", "min_nodes": 1},
        "minNodes is 1, but launcher 'ray' is not elastic; remove it",
    ),
    "a variable that the driver is told": (
        {"kind": "RayJob", "launcher": "ray", "env": {"TRAIN_WORKERS": "3"}},
        "env sets TRAIN_WORKERS, which launcher 'ray' sets itself; remove it",
    ),
    "a variable that KubeRay needs": (
        {"kind": "RayJob", "launcher": "ray", "env": {"RAY_ADDRESS": "elsewhere"}},
        "env has RAY_ADDRESS, which kind 'RayJob' sets itself; remove it",
    ),
}


@pytest.mark.parametrize(("job", "message"), CANNOT.values(), ids=CANNOT)
def test_what_ray_cannot_do(job, message):
    """One sentence says what, and what can."""
    specs = make_specs(make_job_file(**job), clusters={"test": make_cluster(operators=KUBERAY_AND_JOBSET)})
    _, findings = preflight.jobs.check(specs, specs.jobs[0])
    (found,) = [finding.message for finding in findings if finding.is_error]
    assert found.startswith(message)


def test_ray_takes_a_kind_that_ends():
    """A job that names no kind gets a RayJob, whatever else the cluster has."""
    specs = make_specs(make_job_file(launcher="ray"), clusters={"test": make_cluster(operators=KUBERAY_AND_JOBSET)})
    run, findings = preflight.jobs.check(specs, specs.jobs[0])
    assert findings == []
    assert run is not None
    assert run.kind.name == "RayJob"


def test_head_and_submitter_count_in_the_quota():
    """A queue that holds the workers alone never admits the run."""
    quota = {"research": {"teams": ["nlp"], "nominalQuota": {"cpu": {"cpus": 12, "memory": "48Gi"}}}}
    job = {"launcher": "ray", "pool": "cpu", "gpus_per_node": 0, "memory_per_node": "4Gi", "nodes": 2}
    for cpus, messages in ((3, []), (6, ["job needs 16 cpu, but queue 'research' can have at most 12"])):
        cluster = make_cluster(operators=KUBERAY_AND_JOBSET, queues=quota)
        specs = make_specs(make_job_file(**job, cpus_per_node=cpus), clusters={"test": cluster})
        _, findings = preflight.jobs.check(specs, specs.jobs[0])
        assert [finding.message.partition(" of pool")[0] for finding in findings] == messages


def test_the_operator_reaches_heads_and_nothing_else():
    """It asks the dashboard how the driver is; other pods and ports stay the team's."""
    cluster = everything()
    found = {policy.name: policy.fields["spec"] for policy in policies("test", cluster, "nlp", make_team())}
    spec = found["asked-by-kuberay"]
    assert spec["podSelector"] == {"matchLabels": {"ray.io/node-type": "head"}}
    (rule,) = spec["ingress"]
    assert rule["ports"] == [{"port": 8265, "endPort": None, "protocol": "TCP"}]
    assert rule["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ray-operator"}}}]
    theirs = everything(operators={**OPERATORS, "kuberay": {"version": "1.6.2", "managed": False}})
    found = {policy.name: policy.fields["spec"] for policy in policies("test", theirs, "nlp", make_team())}
    (where,) = found["asked-by-kuberay"]["ingress"][0]["from"]
    assert where == {
        "namespaceSelector": {"matchExpressions": [{"key": "trainyard.dev/team", "operator": "DoesNotExist"}]}
    }
    without = policies("test", make_cluster(), "nlp", make_team())
    assert {item.name for item in without} == {"ranks", "outside"}


TCPXO = {
    "type": "gpudirect-tcpxo",
    "networks": [f"vpc{index}" for index in range(1, 9)],
    "daemon": "registry.example.com/mirror/tcpgpudmarxd-dev:v1@sha256:" + "5d0e4d2f4d3c9a4a" * 4,
}


def test_a_fabric_s_script_is_read_where_ray_starts():
    """KubeRay puts our words before `ray start`, in one shell, whose variables the ranks then have."""
    pools = {"gpu": {"shape": "gke-a3-megagpu-8g", "nodes": 4}}
    there = make_cluster(operators=KUBERAY, fabric=TCPXO, pools=pools, topology=None, queues=None)
    run = make_resolved(kind="RayJob", launcher="ray", cluster=there, fabric="rdma")
    found = next(build(run)).value()["spec"]["rayClusterSpec"]
    (group,) = found["workerGroupSpecs"]
    (trainer,) = group["template"]["spec"]["containers"]
    assert trainer["command"][0] == "source"
    assert "command" not in container(found["headGroupSpec"])
    assert [init_container["name"] for init_container in group["template"]["spec"]["initContainers"]] == [
        "tcpxo-daemon"
    ]


def test_workers_in_their_nodes_network_do_not_reach_the_head():
    """Policies select pods, and pods of a node's own network are none to them."""
    host = {"type": "roce", "rails": 8, "attach": "host", "addresses": "10.56.0.0/16"}
    there = make_cluster(operators=KUBERAY, fabric=host)
    run = make_resolved(kind="RayJob", launcher="ray", cluster=there, fabric="rdma")
    assert [item.rule for item in run.kind.check(run)] == ["run/ray-host-network"]


def test_a_patch_reaches_every_pod():
    """The submitter has a role's name too."""
    merge = {"metadata": {"labels": {"example.com/x": "y"}}}
    patches = [{"object": "Pod", "role": name, "merge": merge, "reason": "a test"} for name in ("head", "submitter")]
    found = spec(patches=patches)
    templates = [
        found["rayClusterSpec"]["headGroupSpec"]["template"],
        found["submitterPodTemplate"],
        found["rayClusterSpec"]["workerGroupSpecs"][0]["template"],
    ]
    assert ["example.com/x" in template["metadata"]["labels"] for template in templates] == [True, True, False]
