"""A Job whose pods work together is Indexed, in a JobSet too.

Why: otherwise pods have neither a number nor a name that the others could resolve.
Fix: write completionMode: Indexed, with completions equal to parallelism.
Source: kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, gangs


def check(world: World) -> Iterator[Problem]:
    """Look at Jobs that start a launcher on several nodes; those of a JobSet are Indexed unless they say otherwise."""
    for job in world.training_jobs():
        kind = job.manifest.kind
        if kind not in ("Job", "JobSet") or job.manifest.group not in ("batch", "jobset.x-k8s.io"):
            continue
        for pods in job.pod_sets():
            mode = pods.manifest.text(*pods.template[:-1], "completionMode") or ("Indexed" if kind == "JobSet" else "")
            for gang in gangs(pods):
                if mode != "Indexed":
                    message = f"{gang.launcher} runs on {gang.nodes} nodes, but the Job is not Indexed; make it so"
                    yield Problem(gang.place, message)
