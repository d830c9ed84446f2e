"""Kueue manages the kind of every object that names a queue.

Why: The label does nothing where the kind's integration is off, so a job starts at once, outside of every quota.
 Pods that only another integration needs are held for ever.
Fix: add the kind to integrations.frameworks of Kueue's configuration, or remove the label.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobframework/setup.go, pkg/controller/jobs/pod/pod_controller.go
 Skip
"""

from collections.abc import Iterator

from trainyard.checks import QUEUE_LABEL, Place, Problem, Queues, Severity, TrainingJob, World, all_workloads

SEVERITY = Severity.ERROR
LABELS = ("metadata", "labels", QUEUE_LABEL)
PODS = "pod"


def check(world: World) -> Iterator[Problem]:
    """Look at all kinds that Kueue has an integration for, as far as its configuration is known."""
    scope = Queues(world).scope
    if scope.frameworks is None:
        return
    held = scope.integrates(PODS) and PODS not in scope.frameworks
    for job in unique(world):
        name, framework = job.manifest.get(*LABELS), job.carrier.framework
        if framework is None:
            continue
        if isinstance(name, str) and framework not in scope.frameworks:
            yield from ignored(job, name, held=held and framework == PODS)
        elif held and framework not in scope.frameworks:
            yield from held_pods(job)


def unique(world: World) -> Iterator[TrainingJob]:
    """Yield everything that may name a queue, once: jobs that an object holds do not wait themselves.

    Of rendered runs `kq-kind-enabled` speaks, at the configuration of the cluster.
    """
    seen: set[int] = set()
    for job in (*all_workloads(world), *world.queued()):
        if world.renders(job):
            continue
        if id(job.manifest) not in seen and job.manifest.holder is None:
            seen.add(id(job.manifest))
            yield job


def ignored(job: TrainingJob, name: str, *, held: bool) -> Iterator[Problem]:
    """Yield a queue that has no effect; of pods that are held, one that never admits them."""
    kind, framework = job.manifest.kind, job.carrier.framework
    message = f"queue {name!r} has no effect: Kueue does not manage kind {kind} here; add {framework} to its frameworks"
    severity = SEVERITY if job.carrier.trains else Severity.WARNING
    if held:
        message = f"Kueue holds this pod back and never admits it: its frameworks lack {framework}; add it"
        severity = SEVERITY
    yield Problem(Place(job.manifest, LABELS), message, severity=severity)


def held_pods(job: TrainingJob) -> Iterator[Problem]:
    """Yield a label of pods which are held back, each by itself, and never admitted."""
    for pods in job.pod_sets():
        if pods.manifest is job.manifest and isinstance(pods.manifest.get(*pods.template, *LABELS), str):
            message = f"Kueue holds these pods back and never admits them: its frameworks lack {PODS}; remove the label"
            yield Problem(pods.place(*LABELS), message)
