"""Workers of an MPIJob end with its launcher.

Why: Without cleanPodPolicy the operator leaves the workers alone, and they run sshd for ever. They keep their GPUs,
 while Kueue gives the quota to others, whose pods then find no node.
Fix: set spec.runPolicy.cleanPodPolicy: Running.
Source: kubeflow/mpi-operator v0.8.2 pkg/apis/kubeflow/v2beta1/default.go; pkg/controller/mpi_job_controller.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World, gpus_of

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Look at MPIJobs of v2beta1 whose workers have GPUs."""
    for job in world.training_jobs():
        if job.manifest.kind != "MPIJob" or not job.manifest.api_version.endswith("/v2beta1"):
            continue
        policy = job.manifest.get("spec", "runPolicy", "cleanPodPolicy")
        gpus = sum(
            gpus_of(pods, path) * pods.count
            for pods in job.pod_sets()
            if "Worker" in pods.template
            for path, _ in pods.containers(init=False)
        )
        if gpus and policy in (None, "None"):
            said = "cleanPodPolicy is None" if policy else "cleanPodPolicy is not set"
            message = f"{said}, so workers keep {gpus} GPUs when the launcher has ended; set it to Running"
            yield Problem(Place(job.manifest, ("spec", "runPolicy", "cleanPodPolicy")), message)
