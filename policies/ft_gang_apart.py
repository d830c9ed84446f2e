"""Pods that train together fail together: no rule of their Job lets one fail, or replaces one, alone.

Why: The other ranks wait for the lost one in their collectives until they time out. A rank that is replaced alone joins
 a group that is gone. With a limit for each index nothing restarts the others.
Fix: use backoffLimit instead of backoffLimitPerIndex, and FailJob for disruptions in a JobSet, which restarts all pods.
Source: kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go JobSpec.backoffLimitPerIndex, PodFailurePolicyAction;
 jobset v0.12.0 keps/262-ConfigurableFailurePolicy
"""

from collections.abc import Iterator

from trainyard.checks import Place, Pods, Problem, Severity, World, elastic, gangs, maps_in

LIMIT, POLICY = "backoffLimitPerIndex", "podFailurePolicy"


def check(world: World) -> Iterator[Problem]:
    """Look at Jobs, and at those in JobSets, whose launcher waits for several pods."""
    for job in world.training_jobs():
        for pods in job.pod_sets():
            path = pods.template[:-1]
            if pods.count < 2 or not any(pods.manifest.get(*path, field) for field in (LIMIT, POLICY)):
                continue
            if not waits(pods):
                continue
            if pods.manifest.get(*path, LIMIT) is not None:
                message = f"{LIMIT} lets one rank fail while the others wait for it; use backoffLimit"
                yield Problem(Place(pods.manifest, (*path, LIMIT), key=True), message)
            elif job.manifest.kind == "JobSet":
                yield from replaced(pods)


def replaced(pods: Pods) -> Iterator[Problem]:
    """Yield the rule by which a drained rank is replaced alone, where a JobSet would restart all."""
    path = (*pods.template[:-1], POLICY, "rules")
    for index, rule in enumerate(maps_in(pods.manifest.get(*path))):
        drained = [item for item in maps_in(rule.get("onPodConditions")) if item.get("type") == "DisruptionTarget"]
        if drained and rule.get("action") == "Ignore":
            message = "Ignore replaces one drained rank alone, and the others wait for the old one; use FailJob"
            yield Problem(Place(pods.manifest, (*path, index, "action")), message, severity=Severity.WARNING)


def waits(pods: Pods) -> bool:
    """Say whether the pods' launcher needs all of them."""
    return elastic(pods) is None and any(gang.nodes <= pods.count for gang in gangs(pods))
