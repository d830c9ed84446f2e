"""A probe or hook that names a port must name one of its own container.

Why: The kubelet finds no port of that name, so every probe fails. The container restarts forever, or never becomes
 ready.
Fix: declare the name under ports of the same container, or write the number of the port.
Source: kubernetes v1.35 pkg/probe/util.go ResolveContainerPort
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World, did_you_mean

PROBES = (
    ("livenessProbe",),
    ("readinessProbe",),
    ("startupProbe",),
    ("lifecycle", "postStart"),
    ("lifecycle", "preStop"),
)
HANDLERS = ("httpGet", "tcpSocket")
ADDED = {
    "ray.io": frozenset({"metrics"}),
    "kubeflow.org": frozenset({"pytorchjob-port", "tfjob-port", "xgboostjob-port", "jaxjob-port", "paddlejob-port"}),
}
"""Ports that an operator adds if the manifest does not have them.

Source: kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go; training-operator v1.9.4 pkg/apis/kubeflow.org/v1
"""


def check(world: World) -> Iterator[Problem]:
    """Check the containers of every object that creates pods."""
    for job in world.workloads():
        added = ADDED.get(job.manifest.group, frozenset[str]())
        for pods in job.pod_sets():
            for container, fields in pods.containers():
                ports = fields.get("ports")
                declared = {
                    str(port.get("name")) for port in ports or () if isinstance(port, dict) and port.get("name")
                }
                probes = [asking for asking in PROBES if asking[0] in fields]
                for path in ((*asking, handler, "port") for asking in probes for handler in HANDLERS):
                    for place, port in pods.manifest.at(*container, *path, of=str):
                        if port not in declared | added and not port.lstrip("+-").isdigit():
                            hint = (
                                did_you_mean(port, declared) if declared else "add it under ports, or write its number"
                            )
                            message = f"port {port!r} is not declared by the container; {hint}"
                            yield Problem(Place(pods.manifest, place), message)
