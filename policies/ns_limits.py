"""A job fits the ResourceQuotas and LimitRanges of its namespace.

Why: The API server refuses each pod that exceeds them. The job's controller tries again for ever, and pods of the job
 that were made already hold their GPUs meanwhile. A default request that Kueue counts in place of a limit lets in more
 than there is.
Fix: raise the quota or the limit, or move it to another namespace; queues limit jobs already.
Source: kubernetes v1.35 staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota;
 pkg/quota/v1/evaluator/core/pods.go; plugin/pkg/admission/limitranger; kueue v0.19.2 pkg/workload/resources.go
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from trainyard.checks import Manifest, Place, Pods, Problem, Severity, TrainingJob, World, amount_of, quantity_text

SEVERITY = Severity.WARNING

COUNTS = ("pods", "count/pods")
STANDARD = {"cpu": "requests.cpu", "memory": "requests.memory", "ephemeral-storage": "requests.ephemeral-storage"}
"""Resources that a quota may name without `requests.`."""

REQUIRED = {f"{part}.{name}": (part, name) for part in ("requests", "limits") for name in ("cpu", "memory")}
"""What every container has to have where a quota limits it."""

Amounts = Mapping[str, Decimal]


@dataclass(frozen=True)
class Default:
    """A default of a LimitRange, and where it stands: a maximum is a default, too."""

    limit: Manifest
    path: tuple[str | int, ...]
    text: Any

    @property
    def amount(self) -> Decimal:
        """Its amount; nothing of a malformed one."""
        return amount_of(self.text) or Decimal(0)


@dataclass(frozen=True)
class Container:
    """One container with its amounts as a pod of it has them before defaults."""

    pods: Pods
    name: str
    requests: Amounts
    limits: Amounts


def check(world: World) -> Iterator[Problem]:
    """Compare the requests of each job with every quota and limit of its namespace."""
    quotas, ranges = world.of("ResourceQuota", group=""), world.of("LimitRange", group="")
    if not quotas and not ranges:
        return
    said: set[tuple[int, tuple[str | int, ...]]] = set()
    for job in world.all_jobs():
        near = [limit for limit in ranges if is_near(limit, job)]
        for problem in (
            *(found for quota in quotas if is_near(quota, job) for found in over_quota(quota, job, near)),
            *(found for limit in near for found in over_limit(limit, job, near)),
            *against_defaults(job, near),
        ):
            key = (id(problem.place.manifest), problem.place.path)
            if key not in said:
                said.add(key)
                yield problem


def is_near(manifest: Manifest, job: TrainingJob) -> bool:
    """Whether an object is in a job's namespace."""
    return (manifest.namespace or "default") == job.namespace


def containers(job: TrainingJob) -> Iterator[Container]:
    """Yield every container of a job; a limit alone is also the request."""
    for pods in job.pod_sets():
        for _, value in pods.containers() if pods.count else ():
            limits = amounts(value, "limits")
            yield Container(pods, str(value.get("name")), {**limits, **amounts(value, "requests")}, limits)


def amounts(container: Mapping[str, Any], part: str) -> dict[str, Decimal]:
    """Return the limits or requests of a container."""
    resources = container.get("resources")
    found = resources.get(part) if isinstance(resources, Mapping) else None
    pairs = ((str(name), amount_of(text)) for name, text in found.items()) if isinstance(found, Mapping) else ()
    return {name: amount for name, amount in pairs if amount is not None}


def defaults(near: list[Manifest], part: str) -> dict[str, Default]:
    """Return the default limits or requests of containers, the first of each resource.

    Of limits a maximum is one; of requests a default limit, then a minimum (kubernetes v1.35 pkg/apis/core/v1).
    """
    fields = ("default", "max") if part == "limits" else ("defaultRequest", "default", "max", "min")
    found: dict[str, Default] = {}
    for limit in near:
        for path, item in limit.at("spec", "limits", "*", of=dict):
            for field in fields if item.get("type") == "Container" else ():
                said = item.get(field)
                for name, text in said.items() if isinstance(said, dict) else ():
                    found.setdefault(name, Default(limit, (*path, field, name), text))
    return found


def total(job: TrainingJob) -> dict[str, Decimal]:
    """Return the requests of all pods of a job, and the claims made for them, by the names that quotas give them."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for pods in job.pod_sets():
        found["pods"] += pods.count
        for name, need in pods.needs.items():
            found[f"requests.{name}"] += need.amount * pods.count
        for path, _ in pods.manifest.at(*pods.template, "spec", "volumes", "*", "ephemeral", of=dict):
            found["persistentvolumeclaims"] += pods.count
            spec = ("volumeClaimTemplate", "spec", "resources", "requests", "storage")
            found["requests.storage"] += (amount_of(pods.manifest.get(*path, *spec)) or 0) * pods.count
    return found


def over_quota(quota: Manifest, job: TrainingJob, near: list[Manifest]) -> Iterator[Problem]:
    """Yield the requests of one job that exceed a quota for all pods, and what a quota wants each container to have."""
    if quota.get("spec", "scopes") or quota.get("spec", "scopeSelector"):
        return
    wanted = total(job)
    for path, most in quota.at("spec", "hard", "*"):
        name = str(path[-1])
        name = "pods" if name in COUNTS else STANDARD.get(name, name)
        allowed = amount_of(most)
        who = f"{job.manifest.kind} {job.name!r}"
        if allowed is not None and name in wanted and wanted[name] > allowed:
            resource = name.removeprefix("requests.").removeprefix("limits.")
            needed = f"{who} needs {quantity_text(resource, wanted[name])}"
            message = f"quota allows {most} {path[-1]}, but {needed}, so its pods are refused"
            yield Problem(Place(quota, path), message)
        part, resource = REQUIRED.get(name, ("", ""))
        lacks = next((found for found in containers(job) if part and resource not in getattr(found, part)), None)
        if lacks is not None and resource not in defaults(near, part) and not lacks.pods.spec.get("resources"):
            message = f"quota has {path[-1]}, but container {lacks.name!r} of {who} has none, so its pods are refused"
            yield Problem(Place(quota, path), message, f"remove {path[-1]}, or add a LimitRange with a default")


def over_limit(limit: Manifest, job: TrainingJob, near: list[Manifest]) -> Iterator[Problem]:
    """Yield the requests of one container or pod of a job that a LimitRange does not allow."""
    who = f"{job.manifest.kind} {job.name!r}"
    for path, item in limit.at("spec", "limits", "*", of=dict):
        sort = str(item.get("type"))
        for bound, name, text, allowed in bounds(item):
            at = Place(limit, (*path, bound, name))
            asked = largest(job, sort, name) if bound == "max" else smallest(job, sort, name)
            if bound == "max" and asked is not None and asked > allowed:
                message = f"max is {text} {name}, but {who} needs {quantity_text(name, asked)}"
                yield Problem(at, f"{message}, so its pods are refused")
            elif bound == "max" and sort == "Pod" and name not in defaults(near, "limits") and is_unlimited(job, name):
                message = f"max is {text} {name}, but {who} has no limit of it"
                yield Problem(at, f"{message}, so its pods are refused")
            elif bound == "min" and asked is not None and asked < allowed:
                message = f"min is {text} {name}, but {who} requests {quantity_text(name, asked)}"
                yield Problem(at, f"{message}, so its pods are refused")


def bounds(item: Mapping[str, Any]) -> Iterator[tuple[str, str, Any, Decimal]]:
    """Yield the bounds of one item of a LimitRange: which, of what resource, as written, and the amount."""
    for bound in ("max", "min"):
        said = item.get(bound)
        for name, text in said.items() if isinstance(said, dict) else ():
            amount = amount_of(text)
            if amount is not None:
                yield bound, name, text, amount


def largest(job: TrainingJob, sort: str, name: str) -> Decimal | None:
    """Return the most of a resource that one container, or one pod, of a job requests."""
    if sort == "Pod":
        return max((pods.needs[name].amount for pods in job.pod_sets() if name in pods.needs), default=None)
    if sort != "Container":
        return None
    each = (amount for found in containers(job) for amount in (found.requests.get(name), found.limits.get(name)))
    return max((amount for amount in each if amount is not None), default=None)


def smallest(job: TrainingJob, sort: str, name: str) -> Decimal | None:
    """Return the least of a resource that one container, or one pod, of a job requests."""
    if sort == "Pod":
        return min((pods.needs[name].amount for pods in job.pod_sets() if name in pods.needs), default=None)
    if sort != "Container":
        return None
    return min((found.requests[name] for found in containers(job) if name in found.requests), default=None)


def is_unlimited(job: TrainingJob, name: str) -> bool:
    """Whether some pod of a job has no limit of a resource in any container, which a maximum for pods needs."""
    limited = {id(found.pods) for found in containers(job) if name in found.limits}
    own = (pods.spec.get("resources") or {} for pods in job.pod_sets())
    return not any(own) and any(pods.count and id(pods) not in limited for pods in job.pod_sets())


def against_defaults(job: TrainingJob, near: list[Manifest]) -> Iterator[Problem]:
    """Yield default limits below a request, and default requests that Kueue counts in place of a limit."""
    limits, requests = defaults(near, "limits"), defaults(near, "requests")
    for found in containers(job):
        who = f"container {found.name!r} of {job.manifest.kind} {job.name!r}"
        for name, asked in found.requests.items():
            bound, counted = limits.get(name), requests.get(name)
            if bound is not None and name not in found.limits and asked > bound.amount:
                message = f"{bound.text} {name} becomes the limit of {who}, which requests {quantity_text(name, asked)}"
                yield Problem(Place(bound.limit, bound.path), f"{message}, so its pods are refused")
            if counted is not None and is_counted_less(job, found, name) and asked != counted.amount:
                message = f"Kueue counts {counted.text} {name} for {who}, whose limit alone requests"
                yield Problem(
                    Place(counted.limit, counted.path),
                    f"{message} {quantity_text(name, asked)}",
                    "write the requests into the job, or remove the default",
                )


def is_counted_less(job: TrainingJob, container: Container, name: str) -> bool:
    """Whether Kueue takes a default in place of a limit: only pods of their own get requests before it looks."""
    written = (value for path, value in container.pods.containers() if str(value.get("name")) == container.name)
    alone = any(name not in amounts(value, "requests") for value in written)
    return alone and name in container.limits and job.queue_name is not None and job.carrier.kind != "Pod"
