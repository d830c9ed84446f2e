"""A queued TrainJob must not have empty values in its trainer.

Why: Kueue drops empty values when it admits the job, but spec.trainer is immutable, so its update fails. The job stays
 suspended and holds its quota; only Kueue's log shows why.
Fix: remove the empty field or variable.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/trainjob; kubeflow/trainer v2.3.0 pkg/apis/trainer/v1alpha1
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World


def check(world: World) -> Iterator[Problem]:
    """Check the command, the arguments and the variables of the trainer."""
    for job in world.training_jobs():
        if (job.manifest.group, job.manifest.kind) != ("trainer.kubeflow.org", "TrainJob") or job.queue_name is None:
            continue
        for field in ("command", "args", "env"):
            if job.manifest.get("spec", "trainer", field) == []:
                yield Problem(
                    job.place("spec", "trainer", field), f"{field} is empty, so Kueue cannot start the job; remove it"
                )
        for path, value in job.manifest.at("spec", "trainer", "env", "*", "value", of=str):
            if value == "":
                name = job.manifest.text(*path[:-1], "name")
                yield Problem(
                    Place(job.manifest, path),
                    f"variable {name!r} is empty, so Kueue cannot start the job; remove value, or the variable",
                )
