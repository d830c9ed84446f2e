"""The name of a LeaderWorkerSet leaves room for what its pods' labels add.

Why: The workers of group 0 are a StatefulSet <name>-0, whose revision is a label of its pods: a dash and ten
 characters more, 63 in all. With a longer name the API server refuses the pods, and only events of the StatefulSet
 show it.
Fix: shorten the name to 50 characters, or to 49 with more than ten groups.
Source: lws v0.9.0 pkg/controllers/pod_controller.go; kubernetes v1.35 pkg/controller/statefulset/stateful_set_utils.go
 setPodRevision, pkg/controller/history/controller_history.go HashControllerRevision
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

LONGEST = 63
REVISION = 11
"""A dash and up to ten characters."""


def check(world: World) -> Iterator[Problem]:
    """Look at the StatefulSets of each LeaderWorkerSet: that of its leaders, and of the last group's workers."""
    for job in world.training_jobs():
        manifest = job.manifest
        if manifest.kind != "LeaderWorkerSet" or manifest.group != "leaderworkerset.x-k8s.io":
            continue
        size, groups = manifest.get("spec", "leaderWorkerTemplate", "size"), manifest.get("spec", "replicas")
        groups = groups if type(groups) is int and groups > 0 else 1
        most = LONGEST - REVISION - (1 + len(str(groups - 1)) if type(size) is int and size > 1 else 0)
        if len(manifest.name) > most:
            message = f"name has {len(manifest.name)} characters, but its pods' labels leave {most}; shorten it"
            yield Problem(Place(manifest, ("metadata", "name")), message)
