"""The workers of an elastic PyTorchJob are within its bounds, and those of a PaddleJob are bounds at all.

Why: the operator starts as many workers as there are replicas and tells torchrun the bounds: with fewer than the least
 of them the ranks wait for others that nothing adds, unless metrics say when, and with more some stay outside.
Fix: write minReplicas <= replicas <= maxReplicas.
Source: training-operator v1.9.4 pkg/controller.v1/pytorch/elastic.go, hpa.go; pkg/controller.v1/paddlepaddle/hpa.go
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World


def check(world: World) -> Iterator[Problem]:
    """Look at jobs with an elastic policy."""
    for job in world.training_jobs():
        if job.manifest.kind not in {"PyTorchJob", "PaddleJob"} or not isinstance(
            job.manifest.get("spec", "elasticPolicy"), dict
        ):
            continue
        at = ("spec", "pytorchReplicaSpecs", "Worker", "replicas")
        replicas = job.manifest.get(*at)
        workers = replicas if type(replicas) is int else 1
        least, most = (job.manifest.get("spec", "elasticPolicy", name) for name in ("minReplicas", "maxReplicas"))
        if type(least) is int and type(most) is int and least > most:
            place = job.place("spec", "elasticPolicy", "minReplicas")
            yield Problem(place, f"minReplicas is {least}, above maxReplicas {most}")
        elif job.manifest.kind != "PyTorchJob":
            continue
        elif type(least) is int and workers < least and not job.manifest.get("spec", "elasticPolicy", "metrics"):
            place = job.place("spec", "elasticPolicy", "minReplicas")
            yield Problem(place, f"minReplicas is {least}, but {workers} workers are started, and nothing adds more")
        elif type(most) is int and workers > most:
            place = job.place("spec", "elasticPolicy", "maxReplicas")
            yield Problem(place, f"maxReplicas is {most}, but {workers} workers are started")
