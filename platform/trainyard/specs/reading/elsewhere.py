"""Fields as Kubernetes, Slurm and torchrun call them, by what a job writes in their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OBJECT = frozenset({"apiVersion", "metadata", "spec", "status"})
"""Fields of every object of Kubernetes."""

NOWHERE = "leave it out"

IN_JOBS: Mapping[str, str] = {
    **dict.fromkeys(OBJECT, "it is an object's of Kubernetes, and a job's fields stand at the top"),
    "namespace": "the folder jobs/<team>/ says it; leave it out",
    "name": "the file's name says it; leave it out",
    **dict.fromkeys(("replicas", "parallelism", "completions", "nnodes", "numNodes", "ntasks"), "write nodes"),
    **dict.fromkeys(("nprocPerNode", "nproc_per_node", "slotsPerWorker"), "write processesPerNode"),
    "resources": "write gpusPerNode, cpusPerNode and memoryPerNode",
    **dict.fromkeys(("nodeSelector", "tolerations", "partition"), "the pool says it; write pool"),
    "affinity": "write topology",
    **dict.fromkeys(("volumeMounts", "persistentVolumeClaim"), "write data, checkpoint or mounts"),
    **dict.fromkeys(("restartPolicy", "backoffLimit", "maxRestarts", "failurePolicy"), "write restarts"),
    **dict.fromkeys(("activeDeadlineSeconds", "timeout"), "write maxHours"),
    "terminationGracePeriodSeconds": "write graceSeconds",
    "serviceAccountName": "write serviceAccount",
    "priorityClassName": "write priority",
    "entrypoint": "write program, module or command",
    "securityContext": "write runAsUser, runAsGroup or supplementalGroups",
    **dict.fromkeys(("schedulerName", "hostNetwork", "runtimeClassName", "dnsConfig"), "write it into patches"),
    **dict.fromkeys(("imagePullPolicy", "ttlSecondsAfterFinished", "suspend"), NOWHERE),
    "elasticPolicy": "write minNodes and maxNodes",
}
"""What to do about a field that a job has under another name, or not at all."""


def foreign(value: Any) -> str | None:
    """Return the kind of an object of Kubernetes that stands where a spec should, None where it is none."""
    if not isinstance(value, Mapping) or not isinstance(value.get("apiVersion"), str):
        return None
    kind = value.get("kind")
    return kind[:40] if isinstance(kind, str) and OBJECT & {*value} - {"apiVersion"} else None
