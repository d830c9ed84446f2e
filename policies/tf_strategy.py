"""A TFJob with parameter servers must not train with MultiWorkerMirroredStrategy.

Why: That strategy knows workers only. It refuses tasks of type ps, or the servers wait and do nothing.
Fix: use ParameterServerStrategy, or remove the role of the parameter servers.
Source: tensorflow v2.19 tensorflow/python/distribute/multi_worker_util.py; training-operator v1.9.4
 pkg/controller.v1/tensorflow/tensorflow.go genClusterSpec; tensorflow/models official/common/distribute_utils.py
"""

import re
from collections.abc import Iterator

from trainyard.checks import Problem, Severity, World, arguments

SEVERITY = Severity.WARNING

STRATEGY = re.compile(r"multi[-_]?worker[-_]?mirrored(?:[-_]?strategy)?", re.IGNORECASE)
"""Values of options such as `--distribution_strategy`, as the models of TensorFlow have it."""


def check(world: World) -> Iterator[Problem]:
    """Look at the arguments of TFJobs with parameter servers."""
    for job in world.training_jobs():
        servers = job.manifest.get("spec", "tfReplicaSpecs", "PS")
        if job.manifest.kind != "TFJob" or not isinstance(servers, dict) or servers.get("replicas", 1) == 0:
            continue
        for pods in job.pod_sets():
            for _, options in arguments(pods):
                for name, (place, value) in options.items():
                    if "strategy" in name.lower() and STRATEGY.fullmatch(value):
                        message = f"{name} is {value}, which has no parameter servers, but role PS has some"
                        yield Problem(place, f"{message}; remove the role, or use another strategy")
