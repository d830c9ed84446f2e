"""A Job that may end with fewer pods than it has succeeds when its first pod does.

Why: a pod that comes back when the training has ended finds nobody and fails; it is tried again to the end of
 backoffLimit, and a training that ended well ends as failed, hours later.
Fix: write successPolicy with the rule that index 0, where the ranks meet, succeeded once.
Source: kubernetes v1.35 pkg/controller/job/success_policy.go; torchrun of torch 2.15, seen with 2:3 nodes
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, elastic


def check(world: World) -> Iterator[Problem]:
    """Look at Indexed Jobs whose launcher goes on with fewer nodes."""
    for job in world.training_jobs():
        if (job.manifest.group, job.manifest.kind) != ("batch", "Job"):
            continue
        if job.manifest.text("spec", "completionMode") != "Indexed" or job.manifest.get("spec", "successPolicy"):
            continue
        for pods in job.pod_sets():
            found = elastic(pods)
            if found and pods.count > 1:
                message = f"{found.text} may end with fewer than {pods.count} pods; add a successPolicy of index 0"
                yield Problem(found.place, message)
