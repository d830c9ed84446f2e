"""Training on Ray does not keep the state of its head beyond the head's end.

Why: The driver runs in the head's pod and ends with it, whether or not the state is kept. Ray recommends this for Ray
 Serve alone and guarantees nothing for other workloads. A run then also depends on Redis, or on a volume.
Fix: remove gcsFaultToleranceOptions, and set backoffLimit and a checkpoint.
Source: ray-project/ray 0006bd6c doc/source/cluster/kubernetes/user-guides/kuberay-gcs-ft.md;
 kuberay v1.7.0 ray-operator/apis/ray/v1/raycluster_types.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World, mapping

SEVERITY = Severity.WARNING

EMBEDDED = "rocksdb"
"""A database of the head itself, whose files are on a volume."""

MARK = "ray.io/ft-enabled"
SPECS = {"RayCluster": ("spec",), "RayJob": ("spec", "rayClusterSpec")}


def check(world: World) -> Iterator[Problem]:
    """Check Ray clusters, and those that jobs bring; services are left alone."""
    for job in world.training_jobs():
        spec = SPECS.get(job.manifest.kind)
        if spec is None or job.manifest.group != "ray.io":
            continue
        who = f"{job.manifest.kind} {job.name!r}"
        options = job.manifest.get(*spec, "gcsFaultToleranceOptions")
        if options is not None:
            where = "on a volume" if mapping(options).get("backend") == EMBEDDED else "in Redis"
            message = f"{who} keeps the head's state {where}, but its driver ends with the head; remove this"
            yield Problem(Place(job.manifest, (*spec, "gcsFaultToleranceOptions"), key=True), message)
        elif job.manifest.annotations.get(MARK, "").lower() == "true":
            message = f"{who} keeps the head's state in Redis, but its driver ends with the head; remove {MARK}"
            yield Problem(job.place("metadata", "annotations", MARK), message)
