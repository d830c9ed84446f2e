"""Whether a PriorityClass of platform/extra lets pods displace those of running jobs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.declared import ALL
from trainyard.judge.preflight.subjects import CLUSTER_BESIDE, OneCluster
from trainyard.render import clusters

DEFAULT = Rule(
    id="spec/default-priority",
    title="No PriorityClass in platform/extra is the default of all pods and lets them preempt others.",
    why=(
        "pods of runs that started before have priority 0, so the scheduler ends them for any newer pod, which Kueue "
        "did not decide"
    ),
    fix="remove globalDefault and name the class in the pods that need it, or set preemptionPolicy: Never",
    source="kubernetes v1.35 plugin/pkg/admission/priority/admission.go; pkg/scheduler/framework/preemption",
    severity=Severity.WARNING,
)


@CLUSTER_BESIDE.check(after=(ALL,))
def check(one: OneCluster) -> Iterator[Finding]:
    """Yield default classes whose pods preempt those without a class."""
    for items in clusters.of_files(one.loaded.specs, one.name).values():
        for item in items:
            value, priority = item.value, item.value.get("value")
            if item.identity.kind != "PriorityClass" or value.get("globalDefault") is not True:
                continue
            if isinstance(priority, int) and priority > 0 and value.get("preemptionPolicy") != "Never":
                message = f"new pods get priority {priority} by default and end pods of running jobs"
                yield DEFAULT.of(item.place, f"{message}; remove globalDefault")
