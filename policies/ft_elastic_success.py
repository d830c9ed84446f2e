"""An elastic Indexed Job must have a successPolicy for its first pod.

Why: A pod that restarts after the training has ended finds no other rank and fails. It is retried until backoffLimit,
 so hours later the Job fails although the training succeeded.
Fix: write successPolicy: {rules: [{succeededIndexes: "0", succeededCount: 1}]}; the ranks meet at index 0.
Source: kubernetes v1.35 pkg/controller/job/success_policy.go; torchrun of torch 2.15, seen with 2:3 nodes
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, elastic


def check(world: World) -> Iterator[Problem]:
    """Check Indexed Jobs whose launcher continues with fewer nodes."""
    for job in world.training_jobs():
        if (job.manifest.group, job.manifest.kind) != ("batch", "Job"):
            continue
        if job.manifest.text("spec", "completionMode") != "Indexed" or job.manifest.get("spec", "successPolicy"):
            continue
        for pods in job.pod_sets():
            found = elastic(pods)
            if found and pods.count > 1:
                message = (
                    f"{found.text} allows fewer than {pods.count} pods, but the Job needs all to succeed"
                    "; add successPolicy for index 0"
                )
                yield Problem(found.place, message)
