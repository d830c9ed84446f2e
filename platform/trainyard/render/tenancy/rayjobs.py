"""Ray: clusters of fixed size with their head, and jobs that make one for as long as their driver runs.

Facts: kuberay v1.7.0 ray-operator/apis/ray/v1; kueue v0.19.2 pkg/controller/jobs/raycluster, rayjob.
"""

from __future__ import annotations

from typing import Any

from trainyard.render.tenancy.metadata import HELD, OF_OBJECTS
from trainyard.render.tenancy.pods import POD
from trainyard.render.tenancy.shapes import ANY, About, Condition, Fields, Items, known_shape, only

OFF = only(False)
KUBERAY = "ray.io/kuberay-operator"
OF_RAY = {
    **HELD,
    **dict.fromkeys(("submissionMode", "submitterPodTemplate"), "device"),
    **dict.fromkeys(("deletionStrategy", "shutdownAfterJobFinishes", "ttlSecondsAfterFinished"), "resources"),
    **dict.fromkeys(
        ("serviceType", "headService", "enableIngress", "ingressOptions", "headServiceAnnotations"), "service"
    ),
    **dict.fromkeys(("authOptions", "gcsFaultToleranceOptions"), "secret"),
    "labels": "label",
    "autoscalerOptions": "security",
    "clusterSelector": "object",
}


def is_counted(value: Any, _about: About) -> bool:
    """Whether quota counts as many workers of a group as the operator makes at least."""
    least, counted = (value.get(name) or 0 for name in ("minReplicas", "replicas"))
    return isinstance(least, int) and isinstance(counted, int) and least <= counted


COUNTED = Condition(
    is_counted,
    "{x}.?minReplicas.orValue(0) <= {x}.?replicas.orValue(0)",
    "minReplicas is more than replicas, but quota only counts replicas; lower it",
    subject="resources",
    at=("minReplicas",),
)
"""The operator makes as many as `minReplicas` at least (kuberay v1.6.2 ray-operator/controllers/ray/utils/util.go)."""
GROUP = Fields(
    "a group of workers",
    {
        **dict.fromkeys(("groupName", "idleTimeoutSeconds", "maxReplicas", "minReplicas", "numOfHosts"), ANY),
        **dict.fromkeys(("priority", "rayStartParams", "replicas", "resources", "scaleStrategy"), ANY),
        "labels": OF_OBJECTS,
        "template": POD,
    },
    OF_RAY,
    conditions=(COUNTED,),
)
RAYCLUSTER = known_shape(
    "a Ray cluster",
    *("rayVersion", "upgradeStrategy", "tlsOptions"),
    about=OF_RAY,
    enableInTreeAutoscaling=OFF,
    headGroupSpec=known_shape(
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
    workerGroupSpecs=Items(GROUP),
)
RAYJOB = Fields(
    "a RayJob",
    {
        **dict.fromkeys(("activeDeadlineSeconds", "backoffLimit", "entrypoint", "jobId"), ANY),
        **dict.fromkeys(("entrypointNumCpus", "entrypointNumGpus", "entrypointResources", "metadata"), ANY),
        **dict.fromkeys(("preRunningDeadlineSeconds", "runtimeEnvYAML", "submitterConfig", "suspend"), ANY),
        "managedBy": only(KUBERAY),
        "rayClusterSpec": RAYCLUSTER,
        "shutdownAfterJobFinishes": only(True),
        "submissionMode": only("K8sJobMode", "HTTPMode", "InteractiveMode"),
        "submitterPodTemplate": POD,
        "ttlSecondsAfterFinished": only(0),
    },
    OF_RAY,
    required=("shutdownAfterJobFinishes", "submitterPodTemplate"),
)
"""With the pod that submits the driver: one that the operator makes up, or puts into the head, is not blind.

Its cluster goes as soon as the driver has ended, which is when quota is given to others.
"""
