"""Kueue does not end an elastic job that trains with fewer pods than it has.

Why: while pods are missing the job counts as not ready; after recoveryTimeout Kueue evicts it, each time one step
 nearer to backoffLimitCount, at which the job is suspended for good.
Fix: set recoveryTimeout: 0s in Kueue's waitForPodsReady, or ask for the size that really runs.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/job/job_controller.go, apis/config/v1beta2/defaults.go
"""

import re
from collections.abc import Iterator, Mapping

from trainyard.checks import Problem, Queues, World, elastic

NEVER = re.compile(r"0(?:ns|us|ms|s|m|h)?")
COUNTED = {"Job", "JobSet"}
"""Kinds that are ready when all their pods are; Kubeflow's say it themselves."""


def check(world: World) -> Iterator[Problem]:
    """Look at queued elastic jobs where Kueue's configuration is known to watch over ready pods."""
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
                message = f"{found.text} goes on with fewer pods, but Kueue ends what is not whole after {limit}"
                yield Problem(found.place, message)
