"""The head of a Ray cluster with workers takes no work of Ray's.

Why: a task that lands on the head and fills its memory ends the process that all nodes need, and with it the whole job.
Fix: write num-cpus: "0" into rayStartParams of headGroupSpec.
Source: ray-project/kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go generateRayStartCommand
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World

SEVERITY = Severity.WARNING
NONE = ("0", 0)


def check(world: World) -> Iterator[Problem]:
    """Look at heads beside which there are workers; without them the head has to do the work."""
    for job in world.training_jobs():
        found = list(job.pod_sets()) if job.manifest.group == "ray.io" else []
        if not any(pods.count for pods in found if pods.name not in {"head", "submitter"}):
            continue
        for group in (pods.template[:-1] for pods in found if pods.name == "head"):
            said = (("rayStartParams", "num-cpus"), ("resources", "CPU"), ("resources", "cpu"))
            if not any(job.manifest.get(*group, *path) in NONE for path in said):
                yield Problem(
                    Place(job.manifest, group, key=True),
                    "the head takes work of Ray's, which may end the cluster; write num-cpus: '0' into rayStartParams",
                )
