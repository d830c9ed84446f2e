"""The head of a Ray cluster with workers must not run tasks.

Why: A task that fills the head's memory kills the process that all nodes need, and so the whole job.
Fix: set num-cpus: "0" in rayStartParams of headGroupSpec.
Source: ray-project/kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go generateRayStartCommand
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World

SEVERITY = Severity.WARNING
NONE = ("0", 0)


def check(world: World) -> Iterator[Problem]:
    """Check heads of clusters with workers; without workers the head has to run the tasks."""
    for job in world.training_jobs():
        found = list(job.pod_sets()) if job.manifest.group == "ray.io" else []
        if not any(pods.count for pods in found if pods.name not in {"head", "submitter"}):
            continue
        for group in (pods.template[:-1] for pods in found if pods.name == "head"):
            fields = (("rayStartParams", "num-cpus"), ("resources", "CPU"), ("resources", "cpu"))
            if not any(job.manifest.get(*group, *path) in NONE for path in fields):
                yield Problem(
                    Place(job.manifest, group, key=True),
                    "the head runs tasks, which may end the whole cluster; set num-cpus: '0' in rayStartParams",
                )
