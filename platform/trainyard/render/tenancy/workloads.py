"""The kinds that carry runs: which of their fields a run may have, and where their pods are.

Facts: kubernetes v1.35, jobset v0.12.0, trainer v2.3.0, training-operator v1.9.4, mpi-operator v0.8.0, kuberay v1.7.0,
lws v0.10.0, volcano v1.15.1: the types of each API.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from trainyard.base.findings import Path
from trainyard.render.kinds import kinds
from trainyard.render.tenancy import pods
from trainyard.render.tenancy.held import holder
from trainyard.render.tenancy.metadata import HELD, OF_INNER
from trainyard.render.tenancy.pods import POD
from trainyard.render.tenancy.rayjobs import RAYCLUSTER, RAYJOB
from trainyard.render.tenancy.shapes import (
    ANY,
    SERVED,
    Both,
    Chosen,
    Condition,
    Elsewhere,
    Fields,
    Items,
    Listed,
    Loose,
    Shape,
    Values,
    known_shape,
    only,
)
from trainyard.render.tenancy.trainjobs import TRAINJOB
from trainyard.upstream.workloads import ANY as EACH
from trainyard.upstream.workloads import Carrier, Template, carriers

OFF = only(False)

GANG = Fields("a gang", dict.fromkeys(("disruptionMode", "schedulingPolicy"), ANY), {"resourceClaims": "devices"})
"""What a Job says of its gang, which API servers know from Kubernetes 1.37 on; a run's claims are not there."""
JOB = known_shape(
    "a Job",
    *("activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "completionMode", "completions"),
    *("maxFailedIndexes", "parallelism", "podFailurePolicy", "podReplacementPolicy", "successPolicy"),
    "ttlSecondsAfterFinished",
    about={**HELD, "selector": "controller", "manualSelector": "controller"},
    manualSelector=OFF,
    scheduling=GANG,
    selector=SERVED,
    suspend=ANY,
    template=POD,
)
OF_JOBSET = known_shape(
    "a JobSet's job",
    *("dependsOn", "groupName", "name", "replicas"),
    template=Fields("a JobSet's job", {"metadata": OF_INNER, "spec": JOB}),
)
JOBSET = known_shape(
    "a JobSet",
    *("coordinator", "failurePolicy", "network", "startupPolicy", "successPolicy", "ttlSecondsAfterFinished"),
    about=HELD,
    replicatedJobs=Items(OF_JOBSET),
    suspend=ANY,
)

RUNTIME = known_shape(
    "a runtime",
    "mlPolicy",
    "podGroupPolicy",
    template=Fields("a runtime", {"metadata": OF_INNER, "spec": JOBSET}),
)

SCHEDULING = known_shape(
    "a scheduling policy",
    *("minAvailable", "minResources", "scheduleTimeoutSeconds"),
    about={"queue": "queue", "priorityClass": "priority"},
    priorityClass=Listed("priorities", "priority"),
    queue=Listed("queues", "queue"),
)
CLEANED = only("Running", "All")
RUN_POLICY = Fields(
    "a run policy",
    {
        **dict.fromkeys(("activeDeadlineSeconds", "backoffLimit", "suspend", "ttlSecondsAfterFinished"), ANY),
        "cleanPodPolicy": CLEANED,
        "managedBy": only("kubeflow.org/training-operator", "kubeflow.org/mpi-operator"),
        "schedulingPolicy": SCHEDULING,
    },
    {**HELD, "schedulingPolicy": "priority", "cleanPodPolicy": "resources"},
    required=("cleanPodPolicy",),
)
"""Pods that still run go when the job ends, and quota is given to others: the operators' default leaves them."""
ROLE = known_shape("a role", "replicas", "restartPolicy", template=POD)
LAUNCHER = known_shape("a role", "replicas", "restartPolicy", template=Elsewhere(pods.LAUNCHED))
ELASTIC = known_shape(
    "an elastic policy",
    *("maxReplicas", "maxRestarts", "minReplicas", "nProcPerNode", "rdzvBackend", "rdzvConf", "rdzvHost", "rdzvId"),
    *("rdzvPort", "standalone"),
    about={"metrics": "resources"},
)
"""Without metrics: by them the operator makes an autoscaler, whose pods come beside what quota has counted.

By itself `maxReplicas` is no more than what the program is told (training-operator v1.9.4 pkg/controller.v1/pytorch).
"""
MPI = ("launcherCreationPolicy", "mainContainer", "mpiImplementation", "runLauncherAsWorker", "slotsPerWorker")


def kubeflow(field: str, *free: str, roles: Shape | None = None, **more: Shape) -> Fields:
    """Return the shape of one of Kubeflow's jobs."""
    parts = {field: roles or fixed_roles(field, ROLE), "runPolicy": RUN_POLICY, **more}
    return Fields(
        "a job of Kubeflow's",
        {**dict.fromkeys(free, ANY), **parts},
        {**HELD, "cleanPodPolicy": "resources", "runPolicy": "resources", "elasticPolicy": "resources"},
        required=("runPolicy",),
    )


def fixed_roles(field: str, role: Shape) -> Fields:
    """Return the shape of the roles of one of Kubeflow's jobs: those that Kueue counts, and no others."""
    (names,) = (
        template.roles for row in carriers().values() for template in row.templates if field in template.pattern
    )
    return Fields("roles", dict.fromkeys(names or (), role))


def mpi(launcher: Shape) -> Fields:
    """Return the shape of an MPIJob with such a launcher."""
    roles = Fields("roles", {"Launcher": launcher, "Worker": ROLE})
    return kubeflow("mpiReplicaSpecs", *MPI, "sshAuthMountPath", roles=roles, cleanPodPolicy=CLEANED)


TRAINS = Condition(
    lambda value, _about: isinstance(value, Mapping) and value.get("runLauncherAsWorker") is True,
    "{x}.?runLauncherAsWorker.orValue(false) == true",
    "",
)
"""Whether an MPIJob's launcher has ranks, so that the operator leaves its devices alone."""


LWS = known_shape(
    "a LeaderWorkerSet",
    *("networkConfig", "replicas", "rolloutStrategy", "startupPolicy"),
    leaderWorkerTemplate=known_shape(
        "a LeaderWorkerSet",
        *("restartPolicy", "size", "subGroupPolicy"),
        about={"volumeClaimTemplates": "volume"},
        leaderTemplate=POD,
        workerTemplate=POD,
    ),
)

TASK = known_shape(
    "a task",
    *("dependsOn", "maxRetry", "minAvailable", "name", "partitionPolicy", "policies", "replicas", "topologyPolicy"),
    template=POD,
)
PLUGINS = ("env", "svc", "ssh", "pytorch", "tensorflow", "mpi", "jax", "hcclrank")
VOLCANO = Fields(
    "a Job of Volcano's",
    {
        **dict.fromkeys(("maxRetry", "minAvailable", "minSuccess", "networkTopology", "policies"), ANY),
        **dict.fromkeys(("runningEstimate", "ttlSecondsAfterFinished"), ANY),
        "plugins": known_shape("plugins", *PLUGINS),
        "priorityClassName": Listed("priorities", "priority"),
        "queue": Listed("queues", "queue"),
        "schedulerName": only("volcano"),
        "tasks": Items(TASK),
        "volumes": Items(known_shape("a volume", "mountPath", volumeClaimName=Listed("claims", "claim"))),
    },
    {**HELD, "volumes": "volume", "schedulerName": "place"},
    required=("queue", "schedulerName"),
)
"""In a queue by name, and by the scheduler that knows queues: without, it is in `default`, or in none."""

OWN: Mapping[tuple[str, str], Shape] = {
    ("batch", "Job"): JOB,
    ("batch.volcano.sh", "Job"): VOLCANO,
    ("jobset.x-k8s.io", "JobSet"): JOBSET,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): LWS,
    ("trainer.kubeflow.org", "TrainJob"): TRAINJOB,
    ("trainer.kubeflow.org", "TrainingRuntime"): RUNTIME,
    ("kubeflow.org", "JAXJob"): kubeflow("jaxReplicaSpecs"),
    ("kubeflow.org", "MPIJob"): Chosen(TRAINS, mpi(ROLE), mpi(LAUNCHER)),
    ("kubeflow.org", "PaddleJob"): kubeflow("paddleReplicaSpecs", elasticPolicy=ELASTIC),
    ("kubeflow.org", "PyTorchJob"): kubeflow("pytorchReplicaSpecs", "nprocPerNode", elasticPolicy=ELASTIC),
    ("kubeflow.org", "TFJob"): kubeflow("tfReplicaSpecs", "enableDynamicWorker", "successPolicy"),
    ("kubeflow.org", "XGBoostJob"): kubeflow("xgbReplicaSpecs"),
    ("ray.io", "RayCluster"): RAYCLUSTER,
    ("ray.io", "RayJob"): RAYJOB,
}


@cache
def specs_of_runs() -> Mapping[tuple[str, str], Shape]:
    """Return by group and kind what the `spec` of a run's workload may be.

    These shapes are ours, so they are no part of a row: they say what a team may write. A kind that has none here may
    have all fields, with the pods of a run.
    """
    others = {(kind.group, kind.object_kind): kind.carrier for kind in kinds().values()}
    own = {**OWN, **{key: of_carrier(row) for key, row in others.items() if key not in OWN and row.embeds is None}}
    return {**own, **{key: holder(row, own) for key, row in carriers().items() if row.embeds is not None}}


def queued_kinds() -> list[tuple[str, str]]:
    """Return the kinds of runs that a label puts into a queue, which are those that Kueue has a framework for.

    A Job of Volcano's says its queue itself, and a runtime runs nothing.
    """
    rows = carriers()
    return [key for key in specs_of_runs() if rows[key].framework is not None]


def of_carrier(row: Carrier) -> Shape:
    """Return the shape of the `spec` of a kind from a package of one's own: its pods those of a run, the rest free."""
    found: Shape = ANY
    for template in row.templates:
        found = both_shapes(found, template_shape(template))
    return found


def template_shape(template: Template) -> Shape:
    """Return the shape of a `spec` whose pods stand at a pattern."""
    path: Path = template.pattern[1:]
    shape: Shape = POD
    for step in reversed(path):
        if step == EACH:
            shape = Values(shape) if template.roles is not None else Items(shape)
        else:
            shape = Loose(str(step), shape)
    return shape


def both_shapes(one: Shape, other: Shape) -> Shape:
    """Return the shape that joins both shapes."""
    return other if one is ANY else Both(one, other)
