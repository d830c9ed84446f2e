"""Kueue must not evict an elastic job that trains with fewer pods.

Why: A job with missing pods counts as not ready, and Kueue evicts it after recoveryTimeout. After backoffLimitCount
 evictions the job stays suspended.
Fix: set recoveryTimeout: 0s in Kueue's waitForPodsReady, or use a fixed number of nodes that the job can get.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/job/job_controller.go, apis/config/v1beta2/defaults.go
"""

import re
from collections.abc import Iterator, Mapping

from trainyard.checks import Problem, Queues, World, elastic

NEVER = re.compile(r"0(?:ns|us|ms|s|m|h)?")
COUNTED = {"Job", "JobSet"}
"""Kinds that are ready when all their pods are; Kubeflow's jobs report it in their status."""


def check(world: World) -> Iterator[Problem]:
    """Check queued elastic jobs if Kueue's configuration among the objects sets waitForPodsReady."""
    ready = Queues(world).settings.value.get("waitForPodsReady")
    if not isinstance(ready, Mapping) or ready.get("enable") is False:
        return
    limit = ready.get("recoveryTimeout", ready.get("timeout", "30m"))
    if NEVER.fullmatch(str(limit)):
        return
    for job in world.training_jobs():
        for pods in job.pod_sets() if job.queue_name and job.manifest.kind in COUNTED else ():
            found = elastic(pods)
            if found and pods.count > 1:
                message = (
                    f"{found.text} allows fewer pods, but Kueue evicts the job if pods are missing for {limit}"
                    "; use a fixed nnodes"
                )
                yield Problem(found.place, message)
