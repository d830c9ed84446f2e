"""Pod Security: what a level refuses, in a server's words, for Pods and for whatever makes pods.

Each line of `data/pod_security.jsonl` is a pod, the level of its namespace, and what a kube-apiserver 1.35.4 said of it
in a dry run; chosen from 3,700 pods of one to four changes each, so that every check speaks at every version.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from apiserver.core_objects import named
from conftest import ROOT
from make import write_repository
from trainyard.base.documents import dump, load
from trainyard.judge.checks import parallel
from trainyard.judge.checks.repository import validate_repository
from trainyard.judge.checks.result import Result
from trainyard.judge.checks.validate import strangers
from trainyard.upstream.apiserver.admission import podsecurity
from trainyard.upstream.apiserver.admission.podsecurity.levels import Level, enforced_level
from trainyard.upstream.apiserver.admission.podsecurity.plugin import Admission
from trainyard.upstream.apiserver.admission.podsecurity.settings import Settings, settings
from trainyard.upstream.apiserver.webhooks import gather_objects

DATA = Path(__file__).resolve().parents[1] / "data" / "pod_security.jsonl"
LABEL = podsecurity.LABEL
CONTAINER = {"name": "a", "image": "example.com/a"}
SAFE_CONTAINER = {
    **CONTAINER,
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
}
SAFE_POD = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
SAFE = {
    "securityContext": SAFE_POD,
    "containers": [SAFE_CONTAINER],
}
BARE = {"containers": [CONTAINER]}
HOST = {**SAFE, "hostNetwork": True}


def namespace(level: str, version: str | None = None, *, name: str = "team", **labels: str) -> dict[str, Any]:
    """Return a Namespace that enforces a level."""
    found = {LABEL: level, **({} if version is None else {f"{LABEL}-version": version}), **labels}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": found}}


def placed(api_version: str, kind: str, **fields: Any) -> dict[str, Any]:
    """Return an object in the namespace that enforces a level."""
    value = named(api_version, kind, **fields)
    value["metadata"] = {**value["metadata"], "namespace": "team"}
    return value


def pod(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a Pod."""
    return placed("v1", "Pod", spec=spec)


def judged(*values: dict[str, Any], kubernetes: str = "1.35", **options: Any) -> Result:
    """Judge objects as a stranger's files, one a line."""
    inputs = [(f"{number}.json", json.dumps(value).encode()) for number, value in enumerate(values)]
    return strangers(inputs, ROOT / "schemas", kubernetes=kubernetes, **options)


def said(result: Result) -> list[tuple[str, str, str | None]]:
    """Return severity, rule and field of what is said of pods."""
    return [
        (finding.severity.value, finding.rule.removeprefix("pod-security/"), finding.path)
        for finding in result.findings
        if finding.rule.startswith("pod-security/")
    ]


def test_a_server_says_the_same() -> None:
    """Every recorded pod gets the verdict and the words that a server gave it."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        level, _, version = row["level"].partition(":")
        admission = podsecurity.admission([namespace(level, version)], kubernetes="1.35")
        assert admission is not None
        metadata = {"namespace": "team", "annotations": row.get("annotations", {})}
        value = {"metadata": metadata, "spec": row["spec"]}
        found = [
            item.problem.message for item in admission.check(value, group="", kind="Pod", around=gather_objects([]))
        ]
        start = f'violates PodSecurity "{row["level"]}": '
        assert all(item.startswith(start) for item in found)
        assert ", ".join(item.removeprefix(start) for item in found) == row["message"]
    assert len(rows) > 500


LEVELS = {
    "no label": ({}, None),
    "privileged": ({LABEL: "privileged"}, None),
    "the newest rules": ({LABEL: "baseline"}, "baseline:latest"),
    "the newest rules by name": ({LABEL: "restricted", f"{LABEL}-version": "latest"}, "restricted:latest"),
    "rules of a release": ({LABEL: "restricted", f"{LABEL}-version": "v1.28"}, "restricted:v1.28"),
    "the first rules": ({LABEL: "restricted", f"{LABEL}-version": "v1.0"}, "restricted:v1.0"),
    "a level that is only warned of": ({"pod-security.kubernetes.io/warn": "restricted"}, None),
    "a level that is none": ({LABEL: "Restricted"}, None),
    "a version that is none": ({LABEL: "restricted", f"{LABEL}-version": "1.28"}, None),
    "a version of two levels": ({LABEL: "restricted", f"{LABEL}-version": "v1.28.3"}, None),
    "a number for a version": ({LABEL: "restricted", f"{LABEL}-version": 1}, None),
}


@pytest.mark.parametrize(("labels", "level"), LEVELS.values(), ids=LEVELS)
def test_the_level_of_a_namespace(labels: dict[str, Any], level: str | None) -> None:
    """Labels say the level and the version; with labels that a server refuses there is no such namespace."""
    found = enforced_level({"metadata": {"labels": labels}})
    assert (None if found is None else str(found)) == level


VERSIONS = {
    "a version that the cluster does not have yet": (Level("restricted", 99), "1.35", 35),
    "a version that it has": (Level("restricted", 28), "1.35", 28),
    "the newest": (Level("restricted"), "1.34", 34),
}


@pytest.mark.parametrize(("level", "kubernetes", "minor"), VERSIONS.values(), ids=VERSIONS)
def test_a_cluster_has_no_newer_rules_than_its_own(level: Level, kubernetes: str, minor: int) -> None:
    """What asks for rules of a later release gets those of the cluster's."""
    assert level.rules(int(kubernetes.partition(".")[2])) == minor


def test_users_of_their_own_count_since_1_35() -> None:
    """A pod with a user namespace may run as root in it where the rules are those of 1.35."""
    value = pod({**SAFE, "securityContext": {**SAFE_POD, "runAsUser": 0}, "hostUsers": False})
    assert said(judged(namespace("restricted"), value, kubernetes="1.35")) == []
    older = judged(namespace("restricted"), value, kubernetes="1.34")
    assert said(older) == [("error", "run-as-user", "spec.securityContext.runAsUser")]
    assert said(judged(namespace("restricted", "v1.34"), value)) == said(older)


def test_a_pod_is_refused_at_the_field() -> None:
    """What breaks a level is told where it is written, with its upstream source, and the Pod is invalid."""
    text = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: team}\nspec:\n  hostPID: true\n"
    text += b"  containers:\n  - {name: a, image: b}\n"
    inputs = [("n.json", json.dumps(namespace("baseline")).encode()), ("p.yaml", text)]
    result = strangers(inputs, ROOT / "schemas", kubernetes="1.35")
    assert [item.verdict for item in result.objects] == ["valid", "invalid"]
    (found,) = result.findings
    assert (str(found.location), found.layer, found.rule) == ("p.yaml:5:12", "policy", "pod-security/host-namespaces")
    assert found.message == 'violates PodSecurity "baseline:latest": host namespaces (hostPID=true)'
    assert found.source == "k8s.io/pod-security-admission v0.35.4 policy/check_hostNamespaces.go"
    assert found.fix is not None
    assert "'team'" in found.fix


UNSAID = {
    "a namespace that is not among the inputs": [pod(HOST)],
    "a privileged namespace": [namespace("privileged"), pod(HOST)],
    "another namespace": [namespace("restricted", name="other"), pod(HOST)],
    "a namespace that inputs describe in two ways": [namespace("restricted"), namespace("baseline"), pod(HOST)],
    "a namespace that only warns": [
        namespace("privileged", **{"pod-security.kubernetes.io/warn": "restricted"}),
        pod(HOST),
    ],
    "a pod that keeps to the level": [namespace("restricted"), pod(SAFE)],
}


@pytest.mark.parametrize("values", UNSAID.values(), ids=UNSAID)
def test_nothing_is_said_of_what_is_not_known(values: list[dict[str, Any]]) -> None:
    """Only the level of a namespace among the inputs counts."""
    result = judged(*values)
    assert said(result) == []
    assert {item.verdict for item in result.objects} == {"valid"}


def test_an_object_without_a_namespace_goes_to_the_default_one() -> None:
    """Where the namespace `default` enforces a level, what names none must keep to it."""
    value = pod(HOST)
    del value["metadata"]["namespace"]
    assert [rule for _, rule, _ in said(judged(namespace("baseline", name="default"), value))] == ["host-namespaces"]


LABELS = {"a": "b"}
SELECTED = {"selector": {"matchLabels": LABELS}}


def template(spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a pod template."""
    return {"metadata": {"labels": LABELS}, "spec": {**spec, **more}}


def ray(spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the specification of a Ray cluster."""
    return {"headGroupSpec": {"rayStartParams": {}, "template": template(spec)}, **more}


def runtime(spec: dict[str, Any], **metadata: str) -> dict[str, Any]:
    """Return a runtime of Trainer with one step."""
    node = {**spec, "containers": [{**container, "name": "node"} for container in spec["containers"]]}
    step = {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}}
    jobs = [{"name": "node", "template": {**step, "spec": {"template": {"spec": node}}}}]
    value = placed("trainer.kubeflow.org/v1alpha1", "TrainingRuntime")
    value["spec"] = {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": jobs}}}
    value["metadata"].update(metadata)
    return value


NEVER = {"restartPolicy": "Never"}
AT_NETWORK = "hostNetwork"
IN_WRAPPER = {
    "spec": {"components": [{"template": placed("batch/v1", "Job", spec={"template": template(HOST, **NEVER)})}]}
}
TORCH = [{**SAFE_CONTAINER, "name": "pytorch"}]
TRAIN_JOB = placed(
    "trainer.kubeflow.org/v1alpha1", "TrainJob", spec={"runtimeRef": {"kind": "TrainingRuntime", "name": "own"}}
)
MADE: dict[str, tuple[dict[str, Any], str]] = {
    "a PodTemplate, of which no pod is made": (placed("v1", "PodTemplate", template=template(HOST)), "template.spec"),
    "a ReplicationController": (
        placed("v1", "ReplicationController", spec={"selector": LABELS, "template": template(HOST)}),
        "spec.template.spec",
    ),
    **{
        f"a {kind}": (placed("apps/v1", kind, spec={**SELECTED, "template": template(HOST)}), "spec.template.spec")
        for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
    },
    "a Job": (placed("batch/v1", "Job", spec={"template": template(HOST, **NEVER)}), "spec.template.spec"),
    "a CronJob": (
        placed(
            "batch/v1",
            "CronJob",
            spec={"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": template(HOST, **NEVER)}}},
        ),
        "spec.jobTemplate.spec.template.spec",
    ),
    "the second role of a JobSet": (
        placed(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            spec={
                "replicatedJobs": [
                    {"name": "a", "template": {"spec": {"template": {"spec": SAFE}}}},
                    {"name": "b", "template": {"spec": {"template": {"spec": HOST}}}},
                ]
            },
        ),
        "spec.replicatedJobs[1].template.spec.template.spec",
    ),
    "the workers of an MPIJob": (
        placed(
            "kubeflow.org/v2beta1",
            "MPIJob",
            spec={
                "mpiReplicaSpecs": {
                    "Launcher": {"replicas": 1, "template": template(SAFE)},
                    "Worker": {"replicas": 1, "template": template(HOST)},
                }
            },
        ),
        "spec.mpiReplicaSpecs.Worker.template.spec",
    ),
    "the master of a PyTorchJob": (
        placed(
            "kubeflow.org/v1",
            "PyTorchJob",
            spec={"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": template(HOST, containers=TORCH)}}},
        ),
        "spec.pytorchReplicaSpecs.Master.template.spec",
    ),
    "the head of a RayCluster": (
        placed("ray.io/v1", "RayCluster", spec=ray(HOST)),
        "spec.headGroupSpec.template.spec",
    ),
    "the head of a RayService": (
        placed("ray.io/v1", "RayService", spec={"rayClusterConfig": ray(HOST), "serveConfigV2": "a"}),
        "spec.rayClusterConfig.headGroupSpec.template.spec",
    ),
    "the workers of a LeaderWorkerSet": (
        placed(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            spec={"leaderWorkerTemplate": {"workerTemplate": template(HOST)}},
        ),
        "spec.leaderWorkerTemplate.workerTemplate.spec",
    ),
    "a task of a Volcano Job": (
        placed(
            "batch.volcano.sh/v1alpha1",
            "Job",
            spec={"minAvailable": 1, "tasks": [{"name": "a", "replicas": 1, "template": template(HOST, **NEVER)}]},
        ),
        "spec.tasks[0].template.spec",
    ),
    "a Job in an AppWrapper": (
        placed("workload.codeflare.dev/v1beta2", "AppWrapper", **IN_WRAPPER),
        "spec.components[0].template.spec.template.spec",
    ),
    "a TrainingRuntime, of which no pod is made": (
        runtime(HOST),
        "spec.template.spec.replicatedJobs[0].template.spec.template.spec",
    ),
}


@pytest.mark.parametrize(("value", "at"), MADE.values(), ids=MADE)
def test_what_makes_pods_is_taken_but_none_starts(value: dict[str, Any], at: str) -> None:
    """A server takes what makes pods that it will refuse; that is an error of its own, at the field in the template."""
    result = judged(namespace("restricted"), value)
    severity = "warning" if value["kind"] in ("PodTemplate", "TrainingRuntime") else "error"
    assert said(result) == [(severity, "host-namespaces", f"{at}.{AT_NETWORK}")]
    assert [item.verdict for item in result.objects] == ["valid", "valid"]
    assert result.findings[0].message.startswith('would violate PodSecurity "restricted:latest": ')


def test_a_train_job_has_the_pods_of_its_runtime() -> None:
    """The pods of a TrainJob are those of the runtime that it names, unless it patches them."""
    found = said(judged(namespace("restricted"), runtime(HOST, name="own"), TRAIN_JOB))
    assert ("error", "host-namespaces", "spec.runtimeRef") in found
    patches = [
        {"manager": "a.b/c", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [{"name": "node"}]}}}}
    ]
    patched = copy.deepcopy(TRAIN_JOB)
    patched["spec"]["runtimePatches"] = patches
    found = said(judged(namespace("restricted"), runtime(HOST, name="own"), patched))
    assert [severity for severity, _, _ in found] == ["warning"]


ADDED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "the submitter of a RayJob": (
        placed("ray.io/v1", "RayJob", spec={"entrypoint": "a", "rayClusterSpec": ray(SAFE)}),
        ["ray-job-submitter"],
    ),
    "a submitter with a security context": (
        placed(
            "ray.io/v1",
            "RayJob",
            spec={
                "entrypoint": "a",
                "rayClusterSpec": ray(SAFE),
                "submitterPodTemplate": template(SAFE, **NEVER),
            },
        ),
        [],
    ),
    "a RayJob that is submitted over HTTP": (
        placed(
            "ray.io/v1",
            "RayJob",
            spec={"entrypoint": "a", "rayClusterSpec": ray(SAFE), "submissionMode": "HTTPMode"},
        ),
        [],
    ),
    "a submitter beside the head": (
        placed(
            "ray.io/v1",
            "RayJob",
            spec={
                "entrypoint": "a",
                "rayClusterSpec": {**ray(SAFE), "rayVersion": "2.50.0"},
                "submissionMode": "SidecarMode",
            },
        ),
        ["ray-job-submitter"],
    ),
    "an autoscaler": (
        placed("ray.io/v1", "RayCluster", spec=ray(SAFE, enableInTreeAutoscaling=True)),
        ["autoscaler"],
    ),
    "an autoscaler with a security context": (
        placed(
            "ray.io/v1",
            "RayCluster",
            spec=ray(
                SAFE,
                enableInTreeAutoscaling=True,
                autoscalerOptions={"securityContext": SAFE_CONTAINER["securityContext"]},
            ),
        ),
        [],
    ),
    "the workers of a PyTorchJob": (
        placed(
            "kubeflow.org/v1",
            "PyTorchJob",
            spec={
                "pytorchReplicaSpecs": {
                    role: {"replicas": 1, "template": template(SAFE, containers=TORCH)} for role in ("Master", "Worker")
                }
            },
        ),
        ["init-pytorch"],
    ),
    "the launcher of an old MPIJob": (
        placed(
            "kubeflow.org/v1",
            "MPIJob",
            spec={
                "mpiReplicaSpecs": {
                    role: {"replicas": 1, "template": template(SAFE, containers=[{**SAFE_CONTAINER, "name": "mpi"}])}
                    for role in ("Launcher", "Worker")
                }
            },
        ),
        ["kubectl-delivery"],
    ),
    "the submitter of a RayCronJob": (
        placed(
            "ray.io/v1",
            "RayCronJob",
            spec={"schedule": "0 * * * *", "jobTemplate": {"entrypoint": "a", "rayClusterSpec": ray(SAFE)}},
        ),
        ["ray-job-submitter"],
    ),
    "workers of a PyTorchJob without a master": (
        placed(
            "kubeflow.org/v1",
            "PyTorchJob",
            spec={"pytorchReplicaSpecs": {"Worker": {"replicas": 1, "template": template(SAFE, containers=TORCH)}}},
        ),
        [],
    ),
}


@pytest.mark.parametrize(("value", "names"), ADDED.values(), ids=ADDED)
def test_containers_that_operators_add(value: dict[str, Any], names: list[str]) -> None:
    """Containers that an operator adds without a security context break `restricted` too; the fix says what to do."""
    result = judged(namespace("restricted"), value)
    found = [finding for finding in result.findings if finding.rule == "pod-security/allow-privilege-escalation"]
    assert [name for name in names if any(f'container "{name}"' in item.message for item in found)] == names
    assert len(found) == len(names)
    assert all(item.is_error != ("init-pytorch" in names) for item in found)
    assert not any("change the field" in (item.fix or "") for item in found)
    assert {item.verdict for item in result.objects} == {"valid"}


WAITING = {"name": "wait", "image": "example.com/wait"}
LOCKED = {**WAITING, "securityContext": SAFE_CONTAINER["securityContext"]}
MOUNT = {"name": "template", "mountPath": "/etc/config"}
VOLUME = {"name": "template", "configMap": {"name": "template"}}


def operator(*, args: tuple[str, ...] = (), mount: dict[str, Any] = MOUNT, volume: dict[str, Any] = VOLUME) -> Any:
    """Return the Deployment of a training-operator."""
    container = {"name": "manager", "image": "example.com/training-operator:v1", "args": [*args]}
    found = {**SAFE, "containers": [{**SAFE_CONTAINER, **container, "volumeMounts": [mount]}], "volumes": [volume]}
    labels = {"app": "a"}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": found}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "o", "namespace": "kubeflow"},
        "spec": spec,
    }


def application(**source: Any) -> dict[str, Any]:
    """Return an Application that installs an operator into the namespace `kubeflow`."""
    spec = {
        "project": "operators",
        "destination": {"name": "a", "namespace": "kubeflow"},
        "source": {"repoURL": "https://git.example.com/a.git", **source},
    }
    return {**named("argoproj.io/v1alpha1", "Application", spec=spec)}


def config(text: str, *, key: str = "initContainer.yaml", name: str = "template") -> dict[str, Any]:
    """Return the ConfigMap of a template."""
    metadata = {"name": name, "namespace": "kubeflow"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {key: text}}


def patched(deployment: dict[str, Any]) -> dict[str, Any]:
    """Return an Application that installs manifests and patches them."""
    patch = {"patch": dump(deployment), "target": {"kind": "Deployment"}}
    return application(path="manifests", kustomize={"patches": [patch]})


DISTRIBUTED = ADDED["the workers of a PyTorchJob"][0]
NOTHING, OPEN_, SHUT = "[]\n", json.dumps([WAITING]), json.dumps([LOCKED])
BESIDE = {**MOUNT, "mountPath": "/srv"}
ELSEWHERE = "--pytorch-init-container-template-file=/srv/wait.yaml"
KNOWN: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "by nothing": ([], [("warning", "init-pytorch")]),
    "by a template of nothing": ([operator(), config(NOTHING)], []),
    "by a patch of Argo CD's, with a template of nothing": ([patched(operator()), config(NOTHING)], []),
    "by an empty template": ([operator(), config("")], []),
    "by a template that keeps to the level": ([operator(), config(SHUT)], []),
    "by a template with what the operator fills in": (
        [operator(), config(f"- {{{{if .MasterAddr}}}}\n  {SHUT}")],
        [("warning", "init-pytorch")],
    ),
    "by a template that does not keep to it": ([operator(), config(OPEN_)], [("error", "wait")]),
    "by a template whose name is filled in": (
        [operator(), config(json.dumps([{**WAITING, "image": "{{.InitContainerImage}}"}]))],
        [("error", "wait")],
    ),
    "by an operator without a template": (
        [operator(mount={**MOUNT, "mountPath": "/srv"})],
        [("warning", "init-pytorch")],
    ),
    "by a template that is not at hand": ([operator()], [("warning", "init-pytorch")]),
    "by a template of another key": ([operator(), config(NOTHING, key="other")], [("warning", "init-pytorch")]),
    "by a template in another place": (
        [operator(args=(ELSEWHERE,), mount=BESIDE), config(NOTHING, key="wait.yaml")],
        [],
    ),
    "by a key that is mounted as the file": (
        [
            operator(mount={**MOUNT, "mountPath": "/etc/config/initContainer.yaml", "subPath": "wait"}),
            config(NOTHING, key="wait"),
        ],
        [],
    ),
    "by a key that is put under another name": (
        [
            operator(
                volume={
                    **VOLUME,
                    "configMap": {"name": "template", "items": [{"key": "w", "path": "initContainer.yaml"}]},
                }
            ),
            config(NOTHING, key="w"),
        ],
        [],
    ),
    "by two operators that differ": (
        [
            operator(),
            {**operator(volume={**VOLUME, "configMap": {"name": "b"}})},
            config(NOTHING),
            config(OPEN_, name="b"),
        ],
        [("warning", "init-pytorch")],
    ),
}


@pytest.mark.parametrize(("installs", "expected"), KNOWN.values(), ids=KNOWN)
def test_a_template_that_is_known_is_what_counts(
    installs: list[dict[str, Any]], expected: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Workers begin with is said by what installs the operator; only where nothing says it is it the default."""
    values = [namespace("restricted"), DISTRIBUTED, *installs]
    for large in (parallel.LARGE, 0):
        monkeypatch.setattr(parallel, "LARGE", large)
        found = [
            (finding.severity.value, name)
            for finding in judged(*values).findings
            if finding.rule == "pod-security/allow-privilege-escalation"
            for name in ("init-pytorch", "wait")
            if f'container "{name}"' in finding.message
        ]
        assert found == expected


def test_our_own_operators_are_known() -> None:
    """What this repository installs says that Workers begin with nothing of the operator's."""
    folders = sorted(
        folder for folder in (ROOT / "generated").iterdir() if (folder / "operators" / "training-operator").is_dir()
    )
    assert folders
    for folder in folders:
        files = [*(folder / "argocd").glob("*.yaml"), *(folder / "operators").rglob("*.yaml")]
        values = [item.value for path in files for item in load(path.read_bytes(), file=path.name)[0]]
        assert settings(values) == Settings(waits=())


RAY_SIDECARS: dict[str, dict[str, Any]] = {
    "values": application(
        chart="kuberay-operator",
        targetRevision="1.6.2",
        helm={"valuesObject": {"configuration": {"enabled": True, "workerSidecarContainers": [WAITING]}}},
    ),
    "values as a text": application(
        chart="kuberay-operator",
        targetRevision="1.6.2",
        helm={"values": dump({"configuration": {"enabled": True, "workerSidecarContainers": [WAITING]}})},
    ),
    "a ConfigMap": config(
        dump({"apiVersion": "config.ray.io/v1alpha1", "kind": "Configuration", "workerSidecarContainers": [WAITING]}),
        key="config.yaml",
    ),
}


@pytest.mark.parametrize("installs", RAY_SIDECARS.values(), ids=RAY_SIDECARS)
def test_sidecars_of_rays_operator_count(installs: dict[str, Any]) -> None:
    """What KubeRay is configured to put beside Ray is held against the level, in the pods that it goes into."""
    spec = ray(SAFE)
    spec["workerGroupSpecs"] = [
        {
            "groupName": "w",
            "replicas": 1,
            "minReplicas": 1,
            "maxReplicas": 1,
            "rayStartParams": {},
            "template": template(SAFE),
        }
    ]
    value = placed("ray.io/v1", "RayCluster", spec=spec)
    (found,) = [
        finding
        for finding in judged(namespace("restricted"), value, installs).findings
        if finding.rule == "pod-security/allow-privilege-escalation"
    ]
    assert found.is_error
    assert 'container "wait"' in found.message
    assert "workerGroupSpecs[0]" in str(found.path)
    assert found.fix is not None
    assert found.fix.startswith("add security contexts to the sidecars")


UPDATES = {
    "a label": (pod(BARE), {"labels": {"a": "b"}}, BARE, "valid"),
    "an image": (pod(BARE), {}, {"containers": [{**CONTAINER, "image": "example.com/b"}]}, "invalid"),
    "nothing": (pod(BARE), {}, BARE, "valid"),
}


@pytest.mark.parametrize(("old", "metadata", "spec", "verdict"), UPDATES.values(), ids=UPDATES)
def test_only_a_change_of_images_is_judged(
    old: dict[str, Any], metadata: dict[str, Any], spec: dict[str, Any], verdict: str
) -> None:
    """A Pod that was there before the level may change what the level does not look at."""
    new = pod(spec)
    new["metadata"] = {**new["metadata"], **metadata}
    before = [("1.json", json.dumps(old).encode())]
    result = judged(namespace("restricted"), new, before=before)
    assert result.objects[1].verdict == verdict


def admission() -> Admission:
    """Return what judges by a restricted namespace."""
    found = podsecurity.admission([namespace("restricted")], kubernetes="1.35")
    assert found is not None
    return found


EPHEMERAL = {
    "an ephemeral container is added": ([], [CONTAINER], True),
    "it stays as it was": ([CONTAINER], [CONTAINER], False),
    "its image changes": ([CONTAINER], [{**CONTAINER, "image": "b"}], True),
    "one is gone": ([CONTAINER], [], False),
}


@pytest.mark.parametrize(("before", "now", "refused"), EPHEMERAL.values(), ids=EPHEMERAL)
def test_ephemeral_containers_are_judged_as_they_come(before: list[Any], now: list[Any], refused: bool) -> None:
    """An ephemeral container that comes to a running pod must keep to the level as the others do."""
    old, new = (pod({**BARE, "ephemeralContainers": item}) for item in (before, now))
    assert any(admission().check(new, group="", kind="Pod", around=gather_objects([]), old=old)) == refused


@pytest.mark.parametrize("spelling", [LABEL, LABEL.replace("/", "\\/"), LABEL.replace("e", "\\u0065")])
def test_levels_are_known_in_every_process(monkeypatch: pytest.MonkeyPatch, spelling: str) -> None:
    """A Namespace in the last file counts for the first, however its label is spelt."""
    values = [pod(HOST), pod(SAFE), namespace("restricted")]
    inputs = [(f"{number}.json", json.dumps(value).encode()) for number, value in enumerate(values)]
    inputs[2] = (inputs[2][0], inputs[2][1].replace(LABEL.encode(), spelling.encode()))
    alone = strangers(inputs, ROOT / "schemas", kubernetes="1.35")
    assert alone.objects[0].verdict == "invalid"
    monkeypatch.setattr(parallel, "LARGE", 1)
    monkeypatch.setattr(parallel, "PART", 1)
    assert strangers(inputs, ROOT / "schemas", kubernetes="1.35") == alone


def test_a_cluster_of_the_repository_is_held_to_its_levels(tmp_path: Path) -> None:
    """In a repository's tree what makes pods that its namespace refuses is an error, though a server takes it."""
    root = write_repository(tmp_path)
    folder = root / "generated" / "test"
    folder.mkdir(parents=True)
    job = placed("batch/v1", "Job", spec={"template": template(HOST, **NEVER)})
    for name, value in {"namespace": namespace("baseline"), "job": job}.items():
        (folder / f"{name}.yaml").write_text(dump(value), encoding="utf-8")
    result = validate_repository(root, home=ROOT)
    assert said(result) == [("error", "host-namespaces", "spec.template.spec.hostNetwork")]
    assert result.exit_code() == 1


def test_annotations_of_app_armor_become_fields() -> None:
    """A container of a Pod takes the profile that its annotation names before that of the pod."""
    value = pod({**SAFE, "securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": "a"}}})
    value["metadata"]["annotations"] = {"container.apparmor.security.beta.kubernetes.io/a": "runtime/default"}
    assert judged(value).objects[0].verdict == "valid"
    made = {"metadata": {"annotations": value["metadata"]["annotations"]}, "spec": {**value["spec"], **NEVER}}
    assert judged(placed("batch/v1", "Job", spec={"template": made})).objects[0].verdict == "invalid"
