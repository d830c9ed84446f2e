"""A pod group of Kueue has as many pods as it says, and all of them say the same.

Why: Kueue admits a group once it has pod-group-total-count pods, so a smaller one waits for ever. It deletes pods
 beyond that number, and admits no group whose pods differ in it.
Fix: set the annotation kueue.x-k8s.io/pod-group-total-count of every pod to the number of pods in the group.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/pod/pod_controller.go constructGroupPodSets,
 removeExcessPods
"""

from collections import defaultdict
from collections.abc import Iterator

from trainyard.checks import QUEUE_LABEL, Manifest, Place, Problem, World, whole_number

GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"
FAST = "kueue.x-k8s.io/pod-group-fast-admission"
"""The annotation with which a group starts before all its pods are there."""


def check(world: World) -> Iterator[Problem]:
    """Count the plain pods of each group; of part of a cluster, others of it may be elsewhere."""
    groups: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
    for pod in world.of("Pod", group=""):
        name = pod.labels.get(GROUP)
        if name and pod.holder is None:  # of what an AppWrapper holds, Kueue queues no group
            groups[pod.namespace or "default", name].append(pod)
    for (_, name), pods in groups.items():
        said = [whole_number(pod.annotations.get(TOTAL, "")) for pod in pods]
        if not all(said) or not any(QUEUE_LABEL in pod.labels for pod in pods):
            continue
        odd = next((pod for pod, total in zip(pods, said, strict=True) if total != said[0]), None)
        place = Place(odd or pods[-1], ("metadata", "annotations", TOTAL))
        count = "1 pod" if len(pods) == 1 else f"{len(pods)} pods"
        if odd is not None:
            message = f"pods of group {name!r} differ in their number, so Kueue admits none; write {len(pods)} at each"
            yield Problem(place, message)
        elif (said[0] or 0) < len(pods):
            yield Problem(
                place, f"group {name!r} has {count}, so Kueue deletes those beyond {said[0]}; write {len(pods)}"
            )
        elif (said[0] or 0) > len(pods) and world.complete and FAST not in pods[0].annotations:
            yield Problem(place, f"group {name!r} has {count}, but Kueue waits for {said[0]}; write {len(pods)}")
