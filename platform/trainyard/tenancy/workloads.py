"""The kinds that carry runs: which of their fields a run may have, and where their pods are.

Facts: kubernetes v1.35, jobset v0.12.0, trainer v2.3.0, training-operator v1.9.4, mpi-operator v0.8.0, kuberay v1.7.0,
lws v0.10.0, volcano v1.15.1: the types of each API.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.carriers import ANY as EACH
from trainyard.carriers import Carrier, Template
from trainyard.findings import Path
from trainyard.tenancy import pods
from trainyard.tenancy.containers import COVERS, IMAGE, SECRET, VARIABLE
from trainyard.tenancy.metadata import OF_INNER, OF_OBJECTS
from trainyard.tenancy.shapes import ANY, SERVED, Both, Elsewhere, Fields, Items, Listed, Loose, Shape, Values, only

POD = Elsewhere(pods.TEMPLATE)
OFF = only(False)


def known(what: str, *free: str, about: Mapping[str, str] | None = None, **more: Shape) -> Fields:
    """Return the shape of fields that say nothing beyond the run, and of those that do."""
    return Fields(what, {**dict.fromkeys(free, ANY), **more}, about or {})


HELD = {"managedBy": "controller", "priorityClassName": "priority", "queue": "queue"}

JOB = known(
    "a Job",
    *("activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "completionMode", "completions"),
    *("maxFailedIndexes", "parallelism", "podFailurePolicy", "podReplacementPolicy", "successPolicy"),
    "ttlSecondsAfterFinished",
    about={**HELD, "selector": "controller", "manualSelector": "controller"},
    manualSelector=OFF,
    selector=SERVED,
    suspend=ANY,
    template=POD,
)
OF_JOBSET = known(
    "a JobSet's job",
    *("dependsOn", "groupName", "name", "replicas"),
    template=Fields("a JobSet's job", {"metadata": OF_INNER, "spec": JOB}),
)
JOBSET = known(
    "a JobSet",
    *("coordinator", "failurePolicy", "network", "startupPolicy", "successPolicy", "ttlSecondsAfterFinished"),
    about=HELD,
    replicatedJobs=Items(OF_JOBSET),
    suspend=ANY,
)

TRAINER = "trainer.kubeflow.org/trainjob-controller"
RESOURCES = Fields("resources", dict.fromkeys(("claims", "limits", "requests"), ANY), conditions=(COVERS,))
"""Of a TrainJob's nodes, which take the place of those of its runtime's container."""
STARTER = known(
    "an initializer",
    "storageUri",
    about={"secretRef": "secret"},
    env=Items(VARIABLE),
    secretRef=Fields("a reference", {"name": SECRET}),
)
PATCH = known(
    "a patch of the runtime",
    "manager",
    "time",
    trainingRuntimeSpec=known(
        "a patch of the runtime",
        template=known(
            "a patch of the runtime",
            metadata=OF_INNER,
            spec=known(
                "a patch of the runtime",
                replicatedJobs=Items(
                    known(
                        "a patch of the runtime",
                        "name",
                        template=known(
                            "a patch of the runtime",
                            metadata=OF_INNER,
                            spec=known("a patch of the runtime", template=Elsewhere(pods.PATCH)),
                        ),
                    )
                ),
            ),
        ),
    ),
)
TRAINJOB = known(
    "a TrainJob",
    *("activeDeadlineSeconds", "runtimeRef"),
    about=HELD,
    initializer=known("an initializer", dataset=STARTER, model=STARTER),
    managedBy=only(TRAINER),
    runtimePatches=Items(PATCH),
    suspend=ANY,
    trainer=known(
        "a trainer",
        *("args", "command", "numNodes", "numProcPerNode"),
        about={"image": "image"},
        env=Items(VARIABLE),
        image=IMAGE,
        resourcesPerNode=RESOURCES,
    ),
)
RUNTIME = known(
    "a runtime",
    "mlPolicy",
    "podGroupPolicy",
    template=Fields("a runtime", {"metadata": OF_INNER, "spec": JOBSET}),
)

SCHEDULING = known(
    "a scheduling policy",
    *("minAvailable", "minResources", "scheduleTimeoutSeconds"),
    about={"queue": "queue", "priorityClass": "priority"},
    queue=Listed("queues", "queue"),
)
RUN_POLICY = known(
    "a run policy",
    *("activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "ttlSecondsAfterFinished"),
    about={**HELD, "schedulingPolicy": "priority"},
    managedBy=only("kubeflow.org/training-operator", "kubeflow.org/mpi-operator"),
    schedulingPolicy=SCHEDULING,
    suspend=ANY,
)
ROLE = known("a role", "replicas", "restartPolicy", template=POD)
LAUNCHER = known("a role", "replicas", "restartPolicy", template=Elsewhere(pods.LAUNCHED))
ELASTIC = ("elasticPolicy", "enableDynamicWorker", "nprocPerNode", "successPolicy")
MPI = ("launcherCreationPolicy", "mainContainer", "mpiImplementation", "runLauncherAsWorker", "slotsPerWorker")


def kubeflow(field: str, *free: str, roles: Shape | None = None) -> Fields:
    """Return the shape of one of Kubeflow's jobs."""
    return known("a job of Kubeflow's", *free, about=HELD, **{field: roles or Values(ROLE), "runPolicy": RUN_POLICY})


KUBERAY = "ray.io/kuberay-operator"
GROUP = (
    *("groupName", "idleTimeoutSeconds", "maxReplicas", "minReplicas", "numOfHosts", "priority", "rayStartParams"),
    *("replicas", "resources", "scaleStrategy"),
)
OF_RAY = {
    **HELD,
    **dict.fromkeys(
        ("serviceType", "headService", "enableIngress", "ingressOptions", "headServiceAnnotations"), "service"
    ),
    **dict.fromkeys(("authOptions", "gcsFaultToleranceOptions"), "secret"),
    "labels": "label",
    "autoscalerOptions": "security",
    "clusterSelector": "object",
}
RAYCLUSTER = known(
    "a Ray cluster",
    *("rayVersion", "upgradeStrategy", "tlsOptions"),
    about=OF_RAY,
    enableInTreeAutoscaling=OFF,
    headGroupSpec=known(
        "a Ray head",
        *("rayStartParams", "resources"),
        about=OF_RAY,
        enableIngress=OFF,
        labels=OF_OBJECTS,
        serviceType=only("ClusterIP"),
        template=POD,
    ),
    managedBy=only(KUBERAY),
    suspend=ANY,
    workerGroupSpecs=Items(known("a group of workers", *GROUP, about=OF_RAY, labels=OF_OBJECTS, template=POD)),
)
RAYJOB = known(
    "a RayJob",
    *("activeDeadlineSeconds", "backoffLimit", "deletionStrategy", "entrypoint", "entrypointNumCpus"),
    *("entrypointNumGpus", "entrypointResources", "jobId", "metadata", "preRunningDeadlineSeconds", "runtimeEnvYAML"),
    *("shutdownAfterJobFinishes", "submissionMode", "submitterConfig", "ttlSecondsAfterFinished"),
    about=OF_RAY,
    managedBy=only(KUBERAY),
    rayClusterSpec=RAYCLUSTER,
    submitterPodTemplate=POD,
    suspend=ANY,
)

LWS = known(
    "a LeaderWorkerSet",
    *("networkConfig", "replicas", "rolloutStrategy", "startupPolicy"),
    leaderWorkerTemplate=known(
        "a LeaderWorkerSet",
        *("restartPolicy", "size", "subGroupPolicy"),
        about={"volumeClaimTemplates": "volume"},
        leaderTemplate=POD,
        workerTemplate=POD,
    ),
)

TASK = known(
    "a task",
    *("dependsOn", "maxRetry", "minAvailable", "name", "partitionPolicy", "policies", "replicas", "topologyPolicy"),
    template=POD,
)
PLUGINS = ("env", "svc", "ssh", "pytorch", "tensorflow", "mpi", "jax", "hcclrank")
VOLCANO = known(
    "a Job of Volcano's",
    *("maxRetry", "minAvailable", "minSuccess", "networkTopology", "policies", "runningEstimate"),
    "ttlSecondsAfterFinished",
    about={**HELD, "volumes": "volume", "schedulerName": "place"},
    plugins=known("plugins", *PLUGINS),
    priorityClassName=Listed("priorities", "priority"),
    queue=Listed("queues", "queue"),
    schedulerName=Listed("schedulers", "scheduler"),
    tasks=Items(TASK),
    volumes=Items(known("a volume", "mountPath", volumeClaimName=Listed("claims", "claim"))),
)

SPECS: Mapping[tuple[str, str], Shape] = {
    ("batch", "Job"): JOB,
    ("batch.volcano.sh", "Job"): VOLCANO,
    ("jobset.x-k8s.io", "JobSet"): JOBSET,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): LWS,
    ("trainer.kubeflow.org", "TrainJob"): TRAINJOB,
    ("trainer.kubeflow.org", "TrainingRuntime"): RUNTIME,
    ("kubeflow.org", "JAXJob"): kubeflow("jaxReplicaSpecs"),
    ("kubeflow.org", "MPIJob"): kubeflow(
        "mpiReplicaSpecs",
        *(*MPI, "cleanPodPolicy", "sshAuthMountPath"),
        roles=Fields("roles", {"Launcher": LAUNCHER, "Worker": ROLE}),
    ),
    ("kubeflow.org", "PaddleJob"): kubeflow("paddleReplicaSpecs", *ELASTIC),
    ("kubeflow.org", "PyTorchJob"): kubeflow("pytorchReplicaSpecs", *ELASTIC),
    ("kubeflow.org", "TFJob"): kubeflow("tfReplicaSpecs", *ELASTIC),
    ("kubeflow.org", "XGBoostJob"): kubeflow("xgbReplicaSpecs"),
    ("ray.io", "RayCluster"): RAYCLUSTER,
    ("ray.io", "RayJob"): RAYJOB,
}
"""By group and kind, what the `spec` of a run's workload may be."""


def of_carrier(row: Carrier) -> Shape:
    """Return what the `spec` of a kind of a package of one's own may be: its pods those of a run, the rest as it is."""
    found: Shape = ANY
    for template in row.templates:
        found = beside(found, inside(template))
    return found


def inside(template: Template) -> Shape:
    """Return the shape of a `spec` whose pods stand at a pattern."""
    path: Path = template.pattern[1:]
    shape: Shape = POD
    for step in reversed(path):
        if step == EACH:
            shape = Values(shape) if template.roles is not None else Items(shape)
        else:
            shape = Loose(str(step), shape)
    return shape


def beside(one: Shape, other: Shape) -> Shape:
    """Return what has to be of both shapes."""
    return other if one is ANY else Both(one, other)
