"""A ClusterQueue must name flavors and admission checks that exist, and its flavors topologies that exist.

Why: Kueue sets such a queue inactive, and admits none of its jobs.
Fix: correct the name, or add the object that is missing.
Source: kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/clusterqueue.go inactiveReason
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World, did_you_mean

SEVERITY = Severity.ERROR
NEEDS = {"cluster"}
GROUP = "kueue.x-k8s.io"
NAMES = (
    ("ResourceFlavor", ("spec", "resourceGroups", "*", "flavors", "*", "name")),
    ("AdmissionCheck", ("spec", "admissionChecksStrategy", "admissionChecks", "*", "name")),
    ("AdmissionCheck", ("spec", "admissionChecks", "*")),
)
"""Where a ClusterQueue names other objects; the last one is a field of v1beta1."""


def check(world: World) -> Iterator[Problem]:
    """Look up what ClusterQueues name, and the topology of their flavors."""
    used: set[str] = set()
    for queue in world.of("ClusterQueue", group=GROUP):
        for kind, pattern in NAMES:
            known = {item.name for item in world.of(kind, group=GROUP)}
            for path, name in queue.at(*pattern, of=str):
                if kind == "ResourceFlavor":
                    used.add(name)
                if name not in known:
                    message = f"{kind} {name!r} does not exist, so the queue admits nothing"
                    yield Problem(Place(queue, path), f"{message}; {did_you_mean(name, known)}")
    topologies = {topology.name for topology in world.of("Topology", group=GROUP)}
    for flavor in world.of("ResourceFlavor", group=GROUP):
        for path, name in flavor.at("spec", "topologyName", of=str) if flavor.name in used else ():
            if name not in topologies:
                message = f"Topology {name!r} does not exist, so queues with this flavor admit nothing"
                yield Problem(Place(flavor, path), f"{message}; {did_you_mean(name, topologies)}")
