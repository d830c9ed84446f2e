"""Pods that train together do not fail one by one: their Job has no backoffLimitPerIndex.

Why: With a limit for each index a failed rank ends alone and the others run on. They wait for it in their collectives
 until they time out, and the Job restarts none of them.
Fix: use backoffLimit: 0 in a JobSet, or backoffLimit in a Job.
Source: kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go JobSpec.backoffLimitPerIndex
"""

from collections.abc import Iterator

from trainyard.checks import Place, Pods, Problem, World, elastic, gangs

LIMIT = "backoffLimitPerIndex"


def check(world: World) -> Iterator[Problem]:
    """Look at Jobs, and at those in JobSets, whose launcher waits for several pods."""
    for job in world.training_jobs():
        for pods in job.pod_sets():
            path = (*pods.template[:-1], LIMIT)
            if pods.count > 1 and pods.manifest.get(*path) is not None and waits(pods):
                message = f"{LIMIT} lets one rank fail while the others wait for it; use backoffLimit"
                yield Problem(Place(pods.manifest, path, key=True), message)


def waits(pods: Pods) -> bool:
    """Say whether the pods' launcher needs all of them."""
    return elastic(pods) is None and any(gang.nodes <= pods.count for gang in gangs(pods))
