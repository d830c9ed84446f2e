"""Fields as Kubernetes, Slurm and torchrun call them, by what a job writes in their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OBJECT = frozenset({"apiVersion", "metadata", "spec", "status"})
"""Fields of every object of Kubernetes."""

NOWHERE = "remove it"

IN_JOBS: Mapping[str, str] = {
    **dict.fromkeys(OBJECT, "it belongs to Kubernetes objects; write the job's fields at the top level"),
    "namespace": "it follows from the folder jobs/<team>/; remove it",
    "name": "it follows from the file's name; remove it",
    **dict.fromkeys(("replicas", "parallelism", "completions", "nnodes", "numNodes", "ntasks"), "use nodes"),
    **dict.fromkeys(("nprocPerNode", "nproc_per_node", "slotsPerWorker"), "use processesPerNode"),
    "resources": "use gpusPerNode, cpusPerNode and memoryPerNode",
    **dict.fromkeys(("nodeSelector", "tolerations", "partition"), "use pool"),
    "affinity": "use topology",
    **dict.fromkeys(("volumeMounts", "persistentVolumeClaim"), "use data, checkpoint or mounts"),
    **dict.fromkeys(("restartPolicy", "backoffLimit", "maxRestarts", "failurePolicy"), "use restarts"),
    **dict.fromkeys(("activeDeadlineSeconds", "timeout"), "use maxHours"),
    "terminationGracePeriodSeconds": "use graceSeconds",
    "serviceAccountName": "use serviceAccount",
    "priorityClassName": "use priority",
    "entrypoint": "use program, module or command",
    "securityContext": "use runAsUser, runAsGroup or supplementalGroups",
    **dict.fromkeys(("schedulerName", "hostNetwork", "runtimeClassName", "dnsConfig"), "set it by patches"),
    **dict.fromkeys(("imagePullPolicy", "ttlSecondsAfterFinished", "suspend"), NOWHERE),
    "elasticPolicy": "use minNodes and maxNodes",
}
"""What to do about a field that a job has under another name, or not at all."""


def foreign(value: Any) -> str | None:
    """Return the kind of an object of Kubernetes that stands where a spec should, None where it is none."""
    if not isinstance(value, Mapping) or not isinstance(value.get("apiVersion"), str):
        return None
    kind = value.get("kind")
    return kind[:40] if isinstance(kind, str) and OBJECT & {*value} - {"apiVersion"} else None
