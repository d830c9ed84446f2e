"""A pod has no gate that nothing opens.

Why: The scheduler does not place a pod that has a gate. A pod with a readiness gate is not ready before a controller
 sets its condition. Kueue evicts jobs whose pods do not become ready, if it waits for them.
Fix: remove schedulingGates or readinessGates; Kueue adds and removes its own gates.
Source: kubernetes v1.35 pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go,
 pkg/kubelet/status/generate.go GeneratePodReadyCondition
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
            conditions = pods.spec.get("readinessGates")
            for index, gate in enumerate(conditions if isinstance(conditions, list) else ()):
                if isinstance(name := mapping(gate).get("conditionType"), str):
                    message = f"pods are never ready: nothing on this cluster sets condition {name!r}; remove it"
                    yield Problem(pods.place("spec", "readinessGates", index, "conditionType"), message)
