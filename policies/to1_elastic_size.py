"""The workers of an elastic job must be between minReplicas and maxReplicas.

Why: The operator starts as many workers as replicas says. Below minReplicas the ranks wait for workers that only
 metrics would add. Above maxReplicas some workers stay outside the training.
Fix: write minReplicas <= replicas <= maxReplicas.
Source: training-operator v1.9.4 pkg/controller.v1/pytorch/elastic.go, hpa.go; pkg/controller.v1/paddlepaddle/hpa.go
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World


def check(world: World) -> Iterator[Problem]:
    """Check jobs with an elasticPolicy."""
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
            yield Problem(place, f"minReplicas is {least}, but maxReplicas is {most}; write at most {most}")
        elif job.manifest.kind != "PyTorchJob":
            continue
        elif type(least) is int and workers < least and not job.manifest.get("spec", "elasticPolicy", "metrics"):
            place = job.place("spec", "elasticPolicy", "minReplicas")
            yield Problem(
                place,
                f"minReplicas is {least}, but replicas is {workers} and no metrics add workers; lower it to {workers}",
            )
        elif type(most) is int and workers > most:
            place = job.place("spec", "elasticPolicy", "maxReplicas")
            yield Problem(place, f"maxReplicas is {most}, but replicas is {workers}; raise it to {workers}")
