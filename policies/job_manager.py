"""A job is not left to a controller that the cluster does not have.

Why: Where managedBy names another controller, the job's own one makes no pods. Kueue gives the job quota all the same.
Fix: remove managedBy from the job.
Source: kubernetes v1.35 pkg/controller/job/job_controller.go; jobset v0.12.0 pkg/controllers/jobset_controller.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World

SEVERITY = Severity.WARNING

FIELDS = (("spec", "managedBy"), ("spec", "runPolicy", "managedBy"))
OWN = {
    *("kubernetes.io/job-controller", "jobset.sigs.k8s.io/jobset-controller", "kubeflow.org/mpi-operator"),
    *("kubeflow.org/training-operator", "trainer.kubeflow.org/trainjob-controller", "ray.io/kuberay-operator"),
    *("workload.codeflare.dev/appwrapper-controller", "kueue.x-k8s.io/multikueue"),
}
"""Values with which each kind's own controller makes the pods, and MultiKueue's, which `kq-mk-managedby` checks."""


def check(world: World) -> Iterator[Problem]:
    """Look at the jobs of clusters that are described: elsewhere another controller may take them."""
    if world.inventory is None:
        return
    for job in world.training_jobs():
        for field in FIELDS:
            manager = job.manifest.get(*field)
            if isinstance(manager, str) and manager and manager not in OWN:
                message = f"{manager!r} is to make the pods, but nothing on this cluster does that; remove managedBy"
                yield Problem(Place(job.manifest, field), message)
