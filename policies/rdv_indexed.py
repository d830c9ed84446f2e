"""A Job whose pods train together must be Indexed, and run all of them at once.

Why: Otherwise pods have no index, and no host name that other pods can resolve. The ranks never find each other. Pods
 beyond parallelism start when the first ones are gone.
Fix: set completionMode: Indexed, with completions equal to parallelism.
Source: kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Pods, Problem, World, gangs

Path = tuple[str | int, ...]


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
                elif (late := completions(pods)) is not None and gang.nodes == pods.count:
                    wanted = f"{pods.manifest.get(*late)} pods, but {pods.count} at once, and {gang.launcher}"
                    message = f"the Job runs {wanted} is {gang.nodes} nodes; set completions: {pods.count}"
                    yield Problem(Place(pods.manifest, late), message)


def completions(pods: Pods) -> Path | None:
    """Return the path of the completions of a Job that are more than the pods that run at once; None where not."""
    path = (*pods.template[:-1], "completions")
    wanted = pods.manifest.get(*path)
    return path if type(wanted) is int and wanted > pods.count else None
