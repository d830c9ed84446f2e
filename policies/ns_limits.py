"""A job fits the ResourceQuotas and LimitRanges of its namespace.

Why: The API server refuses each pod that exceeds them. The job's controller tries again for ever, and pods of the job
 that were made already hold their GPUs meanwhile.
Fix: raise the quota or the limit, or move it to another namespace; queues limit jobs already.
Source: kubernetes v1.35 staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota;
 plugin/pkg/admission/limitranger
"""

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

from trainyard.checks import Manifest, Place, Problem, Severity, TrainingJob, World, amount_of

SEVERITY = Severity.WARNING

COUNTS = ("pods", "count/pods")
STANDARD = {"cpu": "requests.cpu", "memory": "requests.memory", "ephemeral-storage": "requests.ephemeral-storage"}
"""Resources that a quota may name without `requests.`."""


def check(world: World) -> Iterator[Problem]:
    """Compare the requests of each job with every quota and limit of its namespace."""
    quotas, limits = world.of("ResourceQuota", group=""), world.of("LimitRange", group="")
    if not quotas and not limits:
        return
    said: set[tuple[int, tuple[str | int, ...]]] = set()
    for job in world.training_jobs():
        for problem in (
            *(found for quota in quotas if is_near(quota, job) for found in over_quota(quota, job)),
            *(found for limit in limits if is_near(limit, job) for found in over_limit(limit, job)),
        ):
            key = (id(problem.place.manifest), problem.place.path)
            if key not in said:
                said.add(key)
                yield problem


def is_near(manifest: Manifest, job: TrainingJob) -> bool:
    """Whether an object is in a job's namespace."""
    return (manifest.namespace or "default") == job.namespace


def total(job: TrainingJob) -> dict[str, Decimal]:
    """Return the requests of all pods of a job, by the names that quotas give them."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for pods in job.pod_sets():
        found["pods"] += pods.count
        for name, need in pods.needs.items():
            found[f"requests.{name}"] += need.amount * pods.count
    return found


def over_quota(quota: Manifest, job: TrainingJob) -> Iterator[Problem]:
    """Yield the requests of one job that exceed a quota for all pods."""
    if quota.get("spec", "scopes") or quota.get("spec", "scopeSelector"):
        return
    wanted = total(job)
    for path, most in quota.at("spec", "hard", "*"):
        name = str(path[-1])
        name = "pods" if name in COUNTS else STANDARD.get(name, name)
        allowed = amount_of(most)
        if allowed is not None and name in wanted and wanted[name] > allowed:
            needed = f"{job.manifest.kind} {job.name!r} needs {amount_text(wanted[name])}"
            message = f"quota allows {most} {path[-1]}, but {needed}, so its pods are refused"
            yield Problem(Place(quota, path), message)


def over_limit(limit: Manifest, job: TrainingJob) -> Iterator[Problem]:
    """Yield the requests of one container or pod of a job that exceed a LimitRange."""
    for path, item in limit.at("spec", "limits", "*", of=dict):
        most = item.get("max")
        for name, amount in most.items() if isinstance(most, dict) else ():
            allowed, asked = amount_of(amount), largest(job, str(item.get("type")), name)
            if allowed is not None and asked > allowed:
                message = f"max is {amount} {name}, but {job.manifest.kind} {job.name!r} needs {amount_text(asked)}"
                yield Problem(Place(limit, (*path, "max", name)), f"{message}, so its pods are refused")


def largest(job: TrainingJob, sort: str, name: str) -> Decimal:
    """Return the most of a resource that one container, or one pod, of a job requests."""
    if sort == "Pod":
        return max((pods.needs[name].amount for pods in job.pod_sets() if name in pods.needs), default=Decimal(0))
    if sort != "Container":
        return Decimal(0)
    asked = (item for pods in job.pod_sets() for item in (*pods.requests(), *pods.limits()) if item.resource == name)
    return max((item.quantity.amount for item in asked), default=Decimal(0))


def amount_text(amount: Decimal) -> str:
    """Write an amount as people do: bytes in binary units."""
    for unit, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20)):
        if amount >= size:
            return f"{amount / size:.4g}{unit}"
    return f"{amount.normalize():f}"
