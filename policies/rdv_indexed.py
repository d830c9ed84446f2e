"""A Job whose pods work together is Indexed.

Why: otherwise pods have neither a number nor a name that the others could resolve.
Fix: write completionMode: Indexed, with completions equal to parallelism.
Source: kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, gangs


def check(world: World) -> Iterator[Problem]:
    """Look at Jobs that start a launcher on several nodes."""
    for job in world.training_jobs():
        if (job.manifest.group, job.manifest.kind) != ("batch", "Job"):
            continue
        for pods in job.pod_sets():
            for gang in gangs(pods):
                if job.manifest.text("spec", "completionMode") != "Indexed":
                    message = f"{gang.launcher} runs on {gang.nodes} nodes, but the Job is not Indexed; make it so"
                    yield Problem(gang.place, message)
