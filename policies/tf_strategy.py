"""A job with parameter servers must not train with MultiWorkerMirroredStrategy.

Why: That strategy knows workers only. It refuses tasks of type ps, or the servers wait and do nothing.
Fix: use ParameterServerStrategy, or remove the role of the parameter servers.
Source: tensorflow v2.19 tensorflow/python/distribute/multi_worker_util.py; training-operator v1.9.4
 pkg/controller.v1/tensorflow/tensorflow.go genClusterSpec; tensorflow/models official/common/distribute_utils.py
"""

import re
from collections.abc import Iterator

from trainyard.checks import Problem, Severity, TrainingJob, World, arguments

SEVERITY = Severity.WARNING

STRATEGY = re.compile(r"multi[-_]?worker[-_]?mirrored(?:[-_]?strategy)?", re.IGNORECASE)
"""Values of options such as `--distribution_strategy`, as the models of TensorFlow have it."""


def check(world: World) -> Iterator[Problem]:
    """Look at the arguments of jobs for TensorFlow with parameter servers."""
    for job in world.training_jobs():
        servers = next((pods.name for pods in job.pod_sets() if pods.name.lower() == "ps" and pods.count), None)
        if servers is None or not is_tensorflow(job):
            continue
        for pods in job.pod_sets():
            for _, options in arguments(pods):
                for name, (place, value) in options.items():
                    if "strategy" in name.lower() and STRATEGY.fullmatch(value):
                        message = f"{name} is {value}, which has no parameter servers, but role {servers} has some"
                        yield Problem(place, f"{message}; remove the role, or use another strategy")


def is_tensorflow(job: TrainingJob) -> bool:
    """Say whether TensorFlow learns its tasks: from the operator of a TFJob, or from a variable of the pods."""
    return job.manifest.kind == "TFJob" or any(
        variable.name == "TF_CONFIG" for pods in job.pod_sets() for variable in pods.variables(init=False)
    )
