"""RayJob: a Ray cluster and what is submitted to it (kuberay v1.6.2)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.ends import Ending
from trainyard.upstream.workloads.integration import OF_RAY
from trainyard.upstream.workloads.ray import GROUP, LISTS, OF_JOB, VOLUMES, adding, ray_job

CARRIER = Carrier(
    GROUP,
    "RayJob",
    ray_job("spec"),
    "kuberay",
    "ray.io/rayjob",
    OF_RAY,
    ("spec", "suspend"),
    LISTS,
    trains=True,
    variables=OF_JOB,
    volumes=VOLUMES,
    arriving=adding("spec", "rayClusterSpec"),
    ending=Ending("Complete", word=("status", "jobDeploymentStatus"), reason=("status", "reason")),
)
