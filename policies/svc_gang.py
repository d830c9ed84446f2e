"""A training program of several nodes runs as a job, not as a Deployment.

Why: Pods of a Deployment have no index, so no rank, and no names by which they find each other. When the program ends
 they start it again, from the first step.
Fix: use a JobSet, an Indexed Job or a PyTorchJob.
Source: kubernetes v1.35 content/en/docs/concepts/workloads/controllers/deployment.md
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, all_workloads, gangs

KINDS = {"Deployment", "ReplicaSet", "ReplicationController", "DaemonSet"}


def check(world: World) -> Iterator[Problem]:
    """Look for launchers of several nodes in pods that are all alike."""
    for job in all_workloads(world):
        if job.manifest.kind in KINDS:
            for pods in job.pod_sets():
                for gang in gangs(pods):
                    message = (
                        f"{gang.launcher} runs on {gang.nodes} nodes, but pods of a {job.manifest.kind} have no rank"
                        "; use a JobSet"
                    )
                    yield Problem(gang.place, message)
