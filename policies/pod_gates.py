"""A pod has no scheduling gate that nothing removes.

Why: The scheduler leaves a pod alone while it has a gate. A job's pods wait for ever, with the quota they were given.
Fix: remove schedulingGates; Kueue adds and removes its own gates.
Source: kubernetes v1.35 pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go
"""

from collections.abc import Iterator

from trainyard.checks import Problem, Severity, World, mapping

SEVERITY = Severity.WARNING

OF_KUEUE = "kueue.x-k8s.io/"


def check(world: World) -> Iterator[Problem]:
    """Look at the jobs of clusters that are described: elsewhere a controller may remove the gate."""
    for job in world.training_jobs() if world.inventory is not None else ():
        for pods in job.pod_sets():
            gates = pods.spec.get("schedulingGates")
            for index, gate in enumerate(gates if isinstance(gates, list) else ()):
                name = mapping(gate).get("name")
                if isinstance(name, str) and not name.startswith(OF_KUEUE):
                    message = f"pods wait for gate {name!r}, which nothing on this cluster removes; remove it"
                    yield Problem(pods.place("spec", "schedulingGates", index, "name"), message)
