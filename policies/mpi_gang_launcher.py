"""A gang of an MPIJob does not count a launcher that waits for the workers.

Why: With launcherCreationPolicy WaitForWorkersReady the launcher comes when all workers run. A gang that counts it
 binds no worker before it is there, so the job never starts.
Fix: set minAvailable to the number of workers, or remove launcherCreationPolicy.
Source: kubeflow/mpi-operator v0.8.2 pkg/controller/podgroup.go calculateMinAvailable; mpi_job_controller.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

AT = ("spec", "runPolicy", "schedulingPolicy")


def check(world: World) -> Iterator[Problem]:
    """Look at MPIJobs of v2beta1 that say how they are scheduled; the operator counts the launcher by default."""
    for job in world.training_jobs():
        if job.manifest.kind != "MPIJob" or not job.manifest.api_version.endswith("/v2beta1"):
            continue
        if job.manifest.get("spec", "launcherCreationPolicy") != "WaitForWorkersReady" or not job.manifest.get(*AT):
            continue
        workers = sum(pods.count for pods in job.pod_sets() if "Worker" in pods.template)
        least = job.manifest.get(*AT, "minAvailable")
        counted = workers + 1 if least is None else least
        if isinstance(counted, int) and counted > workers > 0:
            said = "minAvailable is not set, which counts the launcher" if least is None else f"minAvailable is {least}"
            message = f"{said}, but the launcher waits for {workers} ready workers; set minAvailable: {workers}"
            yield Problem(Place(job.manifest, (*AT, "minAvailable")), message)
