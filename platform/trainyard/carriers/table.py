"""The table: one row a kind, ours and strangers', with what is particular to families of kinds above it."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.carriers.base import (
    Carrier,
    Template,
    by_field,
    of_followers,
    of_group,
    of_lws,
    of_replicated_job,
    pods_of_job,
    replicas,
)
from trainyard.carriers.ends import Ending
from trainyard.findings import Path
from trainyard.manifests import ANY

SPEC: Path = ("spec",)
PLAIN = (Template(SPEC, count=replicas),)
RUN_POLICY: Path = ("spec", "runPolicy", "suspend")
KUBEFLOW, RAY, TRAINER, VOLCANO = "kubeflow.org", "ray.io", "trainer.kubeflow.org", "batch.volcano.sh"


def jobs_at(*path: str) -> Template:
    """Return where a JobSet's specification, or what embeds one, has its pods."""
    inside: Path = ("template", "spec", "template")
    return Template((*path, "replicatedJobs", ANY), inside, by_field("name"), of_replicated_job)


def by_role(field_: str, *roles: str) -> tuple[Template, ...]:
    """Return where Kubeflow's jobs have their pods: a map of roles, of which Kueue counts some, in its order."""
    return (Template(("spec", field_, ANY), count=replicas, roles=roles),)


def ray(*path: str) -> tuple[Template, ...]:
    """Return where the specification of a Ray cluster has its pods."""
    return (
        Template((*path, "headGroupSpec"), name="head"),
        Template((*path, "workerGroupSpecs", ANY), name=by_field("groupName"), count=of_group),
    )


def ray_job(*path: str) -> tuple[Template, ...]:
    """Return where a RayJob's specification has its pods; the submitter is one more."""
    submitter = Template(path, ("submitterPodTemplate",), "submitter")
    return (*ray(*path, "rayClusterSpec"), submitter)


def tasks(*path: str) -> Template:
    """Return where the tasks of Volcano's kinds have their pods."""
    return Template((*path, "tasks", ANY), name=by_field("name"), count=replicas)


def group_of_lws(*path: str) -> tuple[Template, ...]:
    """Return where a LeaderWorkerSet's specification has the pods of one group."""
    holder: Path = (*path, "leaderWorkerTemplate")
    return (
        Template(holder, ("leaderTemplate",), "leader"),
        Template(holder, ("workerTemplate",), of_lws, of_followers),
    )


def kubeflow(kind: str, field_: str, *roles: str, operator: str = "training-operator") -> Carrier:
    """Return the row of one of Kubeflow's jobs."""
    framework = f"{KUBEFLOW}/{kind.lower()}"
    return Carrier(
        KUBEFLOW, kind, by_role(field_, *roles), operator, framework, RUN_POLICY, trains=True, ending=SUCCEEDED
    )


COMPLETE, COMPLETED, SUCCEEDED = Ending("Complete"), Ending("Completed"), Ending("Succeeded")
"""Conditions of a good end: of Job and TrainJob, of JobSet, and of Kubeflow's jobs; of a bad one all say Failed."""

OF_RAY = Ending("Complete", word=("status", "jobDeploymentStatus"), reason=("status", "reason"))
OF_VOLCANO = Ending(
    "Completed",
    ("Failed", "Terminated", "Aborted"),
    word=("status", "state", "phase"),
    reason=("status", "state", "message"),
)

GROUPS = {"workerGroupSpecs": ("groupName",)}
JOBS = {"replicatedJobs": ("name",)}
TASKS = {"tasks": ("name",)}

CARRIERS: tuple[Carrier, ...] = (
    Carrier("", "Pod", (Template((), ()),), framework="pod"),
    Carrier("", "PodTemplate", (Template(()),), idle=True),
    Carrier("", "ReplicationController", PLAIN),
    Carrier("apps", "DaemonSet", (Template(SPEC),)),
    Carrier("apps", "Deployment", PLAIN, framework="deployment"),
    Carrier("apps", "ReplicaSet", PLAIN),
    Carrier("apps", "StatefulSet", PLAIN, framework="statefulset"),
    Carrier(
        "batch",
        "CronJob",
        (Template(("spec", "jobTemplate", "spec"), count=pods_of_job),),
        suspend=("spec", "suspend"),
        makes=True,
    ),
    Carrier(
        "batch",
        "Job",
        (Template(SPEC, count=pods_of_job),),
        framework="batch/job",
        suspend=("spec", "suspend"),
        trains=True,
        ending=COMPLETE,
    ),
    Carrier(
        "jobset.x-k8s.io",
        "JobSet",
        (jobs_at("spec"),),
        "jobset",
        "jobset.x-k8s.io/jobset",
        ("spec", "suspend"),
        JOBS,
        trains=True,
        ending=COMPLETED,
    ),
    Carrier(
        TRAINER,
        "TrainJob",
        operator="trainer",
        framework="trainer.kubeflow.org/trainjob",
        suspend=("spec", "suspend"),
        trains=True,
        ending=COMPLETE,
    ),
    Carrier(
        TRAINER,
        "TrainingRuntime",
        (jobs_at("spec", "template", "spec"),),
        "trainer",
        lists=JOBS,
        makes=True,
        idle=True,
    ),
    Carrier(
        TRAINER,
        "ClusterTrainingRuntime",
        (jobs_at("spec", "template", "spec"),),
        "trainer",
        lists=JOBS,
        makes=True,
        idle=True,
        namespaced=False,
    ),
    kubeflow("JAXJob", "jaxReplicaSpecs", "Worker"),
    kubeflow("MPIJob", "mpiReplicaSpecs", "Launcher", "Worker", operator="mpi-operator"),
    kubeflow("PaddleJob", "paddleReplicaSpecs", "Master", "Worker"),
    kubeflow("PyTorchJob", "pytorchReplicaSpecs", "Master", "Worker"),
    kubeflow("TFJob", "tfReplicaSpecs", "Chief", "Master", "PS", "Worker", "Evaluator"),
    kubeflow("XGBoostJob", "xgbReplicaSpecs", "Master", "Worker"),
    Carrier(RAY, "RayCluster", ray("spec"), "kuberay", "ray.io/raycluster", ("spec", "suspend"), GROUPS, trains=True),
    Carrier(
        RAY,
        "RayJob",
        ray_job("spec"),
        "kuberay",
        "ray.io/rayjob",
        ("spec", "suspend"),
        GROUPS,
        trains=True,
        ending=OF_RAY,
    ),
    Carrier(RAY, "RayCronJob", ray_job("spec", "jobTemplate"), "kuberay", lists=GROUPS, makes=True),
    Carrier(
        RAY,
        "RayService",
        ray("spec", "rayClusterConfig"),
        "kuberay",
        "ray.io/rayservice",
        ("spec", "rayClusterConfig", "suspend"),
        GROUPS,
    ),
    Carrier(
        "leaderworkerset.x-k8s.io",
        "LeaderWorkerSet",
        group_of_lws("spec"),
        "lws",
        "leaderworkerset.x-k8s.io/leaderworkerset",
        trains=True,
    ),
    Carrier("disaggregatedset.x-k8s.io", "DisaggregatedSet", group_of_lws("spec", "roles", ANY, "spec"), "lws"),
    Carrier(VOLCANO, "Job", (tasks("spec"),), "volcano", lists=TASKS, trains=True, ending=OF_VOLCANO),
    Carrier(VOLCANO, "CronJob", (tasks("spec", "jobTemplate", "spec"),), "volcano", lists=TASKS, makes=True),
    Carrier("flow.volcano.sh", "JobTemplate", (tasks("spec"),), "volcano", lists=TASKS, makes=True, idle=True),
    Carrier("keda.sh", "ScaledJob", (Template(("spec", "jobTargetRef"), count=pods_of_job),), "keda", makes=True),
    Carrier(
        "workload.codeflare.dev",
        "AppWrapper",
        operator="appwrapper",
        framework="workload.codeflare.dev/appwrapper",
        suspend=("spec", "suspend"),
        embeds=("spec", "components", ANY, "template"),
    ),
)
"""Facts: Kubernetes v1.35, jobset v0.12.0, trainer v2.3.0, training-operator v1.9.4, mpi-operator v0.8.0, kuberay
v1.6.2, lws v0.9.0, volcano v1.14.1, keda v2.20, appwrapper v1.2; names and counts of kueue v0.19.2 pkg/controller/jobs.
"""

LISTS: Mapping[str, tuple[str, ...]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "resourceClaims": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey",),
    "ports": ("containerPort", "port"),
}
"""What tells the items of a pod's lists apart (kubernetes v1.35 `patchMergeKey`)."""
