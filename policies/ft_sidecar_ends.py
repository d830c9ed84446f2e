"""Every container of a job's pods must end when the training ends.

Why: A pod finishes only when all its containers have finished. A container that runs forever keeps the job running,
 with its GPUs, until the deadline.
Fix: move the container to initContainers with restartPolicy: Always; Kubernetes stops it when the others have ended.
Source: kubernetes v1.35 content/en/docs/concepts/workloads/pods/sidecar-containers.md
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Pods, Problem, Severity, TrainingJob, World

ENDING = {"Job", "CronJob", "JobSet", "ScaledJob", "TrainingRuntime", "ClusterTrainingRuntime"}
"""Kinds that end when their pods do."""

ENDLESS = re.compile(
    r"\btail\b[^;&|]*\s(?:-[a-zA-Z]*[fF]|--follow)\b[^;&|]*$|\bsleep\s+(?:inf(?:inity)?|\d+d|\d{7,})[\"'\s]*$"
)
LOOP = re.compile(r"\bwhile\s+(?:true|:|\[\s*1\s*\])\s*;?\s*do\b")
WAY_OUT = re.compile(r"\b(?:break|exit|return)\b")

DAEMONS = re.compile(
    r"(?:^|/)(?:proxyv2|envoy|fluent-bit|fluentd|filebeat|promtail|cloud-sql-proxy|cloudsql-docker/gce-proxy|"
    r"node-exporter|dcgm-exporter|oauth2-proxy|tcpgpudmarxd(?:-dev)?|tcpx/tcpgpudmarxd|tensorboard)(?=[:@]|$)"
)
"""Images of programs that run until they are stopped."""

SERVES = "its image runs a server"


def check(world: World) -> Iterator[Problem]:
    """Check the containers of each pod, for kinds that end."""
    for job in world.workloads():
        if job.manifest.kind in ENDING and "volcano" not in job.manifest.group:
            for pods in job.pod_sets():
                if is_awaited(job, pods):
                    yield from endless_containers(pods)


def endless_containers(pods: Pods) -> Iterator[Problem]:
    """Yield containers that never end, if another container of the pod ends."""
    found = [(path, container, endless_reason(container)) for path, container in pods.containers(init=False)]
    if all(why for _, _, why in found):
        return
    for path, container, why in found:
        if why:
            message = (
                f"container {container.get('name')!r} never ends ({why}), so the job never ends; make it a sidecar"
            )
            weight = Severity.WARNING if why == SERVES else None
            yield Problem(pods.place(*path[len(pods.template) :]), message, severity=weight)


def endless_reason(container: Mapping[str, Any]) -> str:
    """Return why a container never ends; empty if it may end."""
    line = " ".join(
        text for field in ("command", "args") for text in container.get(field) or () if isinstance(text, str)
    )
    if found := ENDLESS.search(line):
        return found[0].strip()
    if LOOP.search(line) and not WAY_OUT.search(line):
        return "an endless loop"
    return SERVES if not line and DAEMONS.search(str(container.get("image"))) else ""


def is_awaited(job: TrainingJob, pods: Pods) -> bool:
    """Say whether the job ends with these pods: a JobSet may name the jobs that it waits for."""
    targets = job.manifest.get("spec", "successPolicy", "targetReplicatedJobs")
    return job.manifest.kind != "JobSet" or not targets or pods.name in targets
