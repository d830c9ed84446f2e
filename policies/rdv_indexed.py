"""A Job whose pods train together must be Indexed.

Why: Otherwise pods have no index, and no host name that other pods can resolve. The ranks never find each other.
Fix: set completionMode: Indexed, with completions equal to parallelism.
Source: kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, gangs


def check(world: World) -> Iterator[Problem]:
    """Check Jobs that start a launcher on several nodes; those of a JobSet are Indexed by default."""
    for job in world.all_jobs():
        kind = job.manifest.kind
        if kind not in ("Job", "JobSet") or job.manifest.group not in ("batch", "jobset.x-k8s.io"):
            continue
        for pods in job.pod_sets():
            mode = pods.manifest.text(*pods.template[:-1], "completionMode") or ("Indexed" if kind == "JobSet" else "")
            for gang in gangs(pods):
                if mode != "Indexed":
                    message = (
                        f"{gang.launcher} runs on {gang.nodes} nodes, but the Job is not Indexed"
                        "; set completionMode: Indexed"
                    )
                    yield Problem(gang.place, message)
