"""RayCronJob: RayJobs on a schedule (kuberay v1.6.2)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.ray import GROUP, LISTS, OF_JOB, VOLUMES, adding, ray_job
from trainyard.upstream.workloads.unread import MAKES

CARRIER = Carrier(
    GROUP,
    "RayCronJob",
    ray_job("spec", "jobTemplate"),
    "kuberay",
    lists=LISTS,
    makes=True,
    variables=OF_JOB,
    volumes=VOLUMES,
    arriving=adding("spec", "jobTemplate", "rayClusterSpec"),
    unread=MAKES,
)
