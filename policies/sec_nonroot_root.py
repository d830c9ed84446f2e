"""A container that must not be root does not run as user 0.

Why: The kubelet never starts a container with runAsNonRoot: true and runAsUser: 0. The pod waits for ever with
 CreateContainerConfigError, and holds its GPUs.
Fix: set runAsUser to another number, or remove runAsNonRoot.
Source: kubernetes v1.35 pkg/kubelet/kuberuntime/security_context_others.go verifyRunAsNonRoot
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, mapping


def check(world: World) -> Iterator[Problem]:
    """Look at the user of every container; what the container says goes before what the pod says."""
    for job in world.workloads():
        for pods in job.pod_sets():
            of_pod = mapping(pods.spec.get("securityContext"))
            seen = set()
            for path, container in pods.containers():
                own = mapping(container.get("securityContext"))
                user = own.get("runAsUser", of_pod.get("runAsUser"))
                forbidden = own.get("runAsNonRoot", of_pod.get("runAsNonRoot")) is True
                if not forbidden or isinstance(user, bool) or user != 0:
                    continue
                at = (
                    (*path[len(pods.template) :], "securityContext")
                    if "runAsUser" in own
                    else ("spec", "securityContext")
                )
                if at not in seen:
                    seen.add(at)
                    message = "runAsUser is 0, but runAsNonRoot is true, so it never starts; use another user"
                    yield Problem(pods.place(*at, "runAsUser"), message)
