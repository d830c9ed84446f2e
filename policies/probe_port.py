"""Probes and hooks of a container ask a port that the container has.

Why: the kubelet finds no port of the name, so that the probe fails each time: the container is restarted for ever, or
 never ready.
Fix: name the port under ports of the same container, or write its number.
Source: kubernetes v1.35 pkg/probe/util.go ResolveContainerPort
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World, did_you_mean

ASKING = (
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
"""Ports that an operator adds where nobody writes them.

Source: kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go; training-operator v1.9.4 pkg/apis/kubeflow.org/v1
"""


def check(world: World) -> Iterator[Problem]:
    """Look at the containers of whatever makes pods."""
    for job in world.workloads():
        added = ADDED.get(job.manifest.group, frozenset[str]())
        for pods in job.pod_sets():
            for container, fields in pods.containers():
                ports = fields.get("ports")
                has = {str(port.get("name")) for port in ports or () if isinstance(port, dict) and port.get("name")}
                asked = [asking for asking in ASKING if asking[0] in fields]
                for path in ((*asking, handler, "port") for asking in asked for handler in HANDLERS):
                    for place, port in pods.manifest.at(*container, *path, of=str):
                        if port not in has | added and not port.lstrip("+-").isdigit():
                            hint = did_you_mean(port, has) if has else "write it under ports, or its number"
                            message = f"port {port!r} is none that the container names; {hint}"
                            yield Problem(Place(pods.manifest, place), message)
