"""Pods of a gang of Volcano's must use the scheduler of Volcano.

Why: The default scheduler binds each pod alone and ignores minAvailable. Two jobs can each start half of their pods,
 and wait for each other forever.
Fix: write schedulerName: volcano, or remove the field.
Source: volcano-sh/volcano v1.14.1 pkg/controllers/job/job_controller_util.go createJobPod; kubeflow/trainer v1.9.4
 pkg/controller.v1/control/podgroup_control.go DecoratePodTemplateSpec
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

DEFAULT = "default-scheduler"
"""The scheduler of every cluster, which does not support Volcano's gangs."""


def check(world: World) -> Iterator[Problem]:
    """Check the scheduler of Volcano jobs whose pods must start together."""
    for job in world.of("Job", group="batch.volcano.sh"):
        if job.get("spec", "minAvailable") == 1:
            continue
        for at in (("spec",), ("spec", "tasks", "*", "template", "spec")):
            for path, name in job.at(*at, "schedulerName", of=str):
                if name == DEFAULT:
                    message = "schedulerName is 'default-scheduler', which ignores minAvailable; write volcano"
                    yield Problem(Place(job, path), message)
    yield from check_grouped(world)


def check_grouped(world: World) -> Iterator[Problem]:
    """Check Kubeflow's jobs in a queue of Volcano's: the training operator keeps a scheduler that a template names."""
    for job in world.training_jobs():
        policy = ("spec", "runPolicy", "schedulingPolicy")
        grouped = job.manifest.group == "kubeflow.org" and job.manifest.kind != "MPIJob"
        if not grouped or not job.manifest.get(*policy, "queue") or job.manifest.get(*policy, "minAvailable") == 1:
            continue
        for pods in job.pod_sets():
            if pods.spec.get("schedulerName") == DEFAULT:
                message = "schedulerName is 'default-scheduler', which ignores Volcano's queue; write volcano"
                yield Problem(Place(job.manifest, (*pods.template, "spec", "schedulerName")), message)
