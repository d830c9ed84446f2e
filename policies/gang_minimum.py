"""A scheduler waits for as many pods as the launcher does.

Why: With fewer, it starts some pods, which wait for the others with their GPUs. Two jobs that each have a part wait for
 ever.
Fix: set minAvailable to the number of pods, or give torchrun a range of nodes.
Source: volcano-sh/volcano v1.14.1 pkg/scheduler/plugins/gang/gang.go; pytorch v2.9 torch/distributed/run.py
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, TrainingJob, World, gangs

SEVERITY = Severity.WARNING
FIELDS = {
    "batch.volcano.sh": ("spec", "minAvailable"),
    "kubeflow.org": ("spec", "runPolicy", "schedulingPolicy", "minAvailable"),
}


def check(world: World) -> Iterator[Problem]:
    """Look at jobs that say with how many pods they start."""
    for job in world.training_jobs():
        path = FIELDS.get(job.manifest.group)
        least = job.manifest.get(*path) if path else None
        if path is None or isinstance(least, bool) or not isinstance(least, int) or least < 1:
            continue
        wanted, launcher = waits_for(job)
        if least < wanted <= sum(pods.count for pods in job.pod_sets()):
            alone = "1 pod" if least == 1 else f"{least} pods"
            message = f"{launcher} waits for {wanted} nodes, but the scheduler may start {alone} alone; use {wanted}"
            yield Problem(Place(job.manifest, path), message)


def waits_for(job: TrainingJob) -> tuple[int, str]:
    """Return the most nodes that a launcher of a job waits for, and its name; 0 where none says a number."""
    if job.manifest.get("spec", "elasticPolicy"):
        return 0, ""
    found = [(gang.nodes, gang.launcher) for pods in job.pod_sets() for gang in gangs(pods)]
    return max(found, default=(0, ""))
