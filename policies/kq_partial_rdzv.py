"""A Job that Kueue may start with fewer pods has a launcher that trains with fewer.

Why: With job-min-parallelism Kueue lowers parallelism to fit the free quota. A launcher with a fixed number of nodes
 waits for pods that never come, and holds the quota.
Fix: remove kueue.x-k8s.io/job-min-parallelism, or give torchrun a range such as --nnodes=2:4 and
 --rdzv-backend=c10d.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/job/job_controller.go RunWithPodSetsInfo, minPodsCount;
 pytorch v2.9 torch/distributed/run.py
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World, gangs, whole_number

LEAST = "kueue.x-k8s.io/job-min-parallelism"
"""The fewest pods with which Kueue starts a Job."""


def check(world: World) -> Iterator[Problem]:
    """Compare the fewest pods of a queued Job with the nodes that its launcher waits for."""
    for job in world.all_jobs():
        least = whole_number(job.manifest.annotations.get(LEAST, ""))
        if job.manifest.kind != "Job" or job.manifest.group != "batch" or not job.queue_name or not least:
            continue
        for gang in (gang for pods in job.pod_sets() for gang in gangs(pods)):
            if least < gang.nodes:
                message = f"Kueue may start {least} pods, but {gang.launcher} waits for {gang.nodes} nodes"
                yield Problem(
                    Place(job.manifest, ("metadata", "annotations", LEAST)), f"{message}; remove the annotation"
                )
                break
