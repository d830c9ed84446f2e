"""All pods of a training group restart together.

Why: With restartPolicy None a failed pod of a LeaderWorkerSet starts alone. The other ranks wait for it in a collective
 operation until NCCL's watchdog ends them, one by one.
Fix: remove restartPolicy; the default RecreateGroupOnPodRestart starts the whole group again.
Source: lws v0.9.0 pkg/controllers/pod_controller.go, pkg/webhooks/leaderworkerset_webhook.go
"""

from collections.abc import Iterator

from trainyard.checks import RUN_LABEL, Place, Problem, Severity, TrainingJob, World, launched

SEVERITY = Severity.WARNING

ALONE = ("None", "Default")
"""Values with which a pod restarts alone: the webhook turns the deprecated Default into None."""

FIELD = ("spec", "leaderWorkerTemplate", "restartPolicy")


def check(world: World) -> Iterator[Problem]:
    """Look at groups that run torchrun or the like, and at rendered runs: servers may join again by themselves."""
    for job in world.training_jobs():
        policy = job.manifest.get(*FIELD)
        if job.manifest.kind == "LeaderWorkerSet" and policy in ALONE and of_several_pods(job) and trains(job):
            message = f"restartPolicy is {policy}, so a failed pod starts without the other ranks; remove it"
            yield Problem(Place(job.manifest, FIELD), message)


def of_several_pods(job: TrainingJob) -> bool:
    """Whether each group has more than one pod."""
    size = job.manifest.get("spec", "leaderWorkerTemplate", "size")
    return type(size) is int and size > 1


def trains(job: TrainingJob) -> bool:
    """Whether its pods are ranks of one program."""
    return RUN_LABEL in job.manifest.labels or any(True for pods in job.pod_sets() for _ in launched(pods))
