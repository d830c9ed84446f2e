"""A queue in no cohort has quota for each of its jobs.

Why: Kueue adds no quota of two flavors together for one pod set, and a queue in no cohort borrows none. A job beyond
 that is never admitted, and in a StrictFIFO queue every job behind it waits too.
Fix: request less, or add quota to one flavor of the queue.
Source: kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go fitsResourceQuota;
 pkg/cache/scheduler/resource_node.go potentialAvailable
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal

from trainyard.checks import Manifest, Place, Problem, Queues, TrainingJob, World, amount_of, quantity_text

LEAST = "kueue.x-k8s.io/job-min-parallelism"
"""The annotation with which Kueue may admit fewer pods of a Job."""

BY_GROUPS = {"LeaderWorkerSet", "DisaggregatedSet"}
"""Kinds of which Kueue admits each group by itself."""

Quotas = Mapping[str, Mapping[str, Decimal]]
"""By resource and flavor, the quota of a queue."""


def check(world: World) -> Iterator[Problem]:
    """Compare what jobs request with the queue beside them; on a cluster of ours, Kueue itself is asked."""
    queues = Queues(world)
    for job in () if world.inventory else world.all_jobs():
        queue = queues.of(job)
        if queue is None or not job.carrier.framework or job.manifest.kind in BY_GROUPS:
            continue
        if queue.get("spec", "cohortName") or queue.get("spec", "cohort") or LEAST in job.manifest.annotations:
            continue
        if not queues.scope.integrates(job.carrier.framework):
            continue
        there = {name: found for name, found in quotas(queue).items() if not queues.settings.changes(name)}
        yield from beyond(job, queue, there)


def quotas(queue: Manifest) -> Quotas:
    """Return the quota of each resource by flavor; none of a resource with a quota that is no quantity."""
    found: dict[str, dict[str, Decimal]] = defaultdict(dict)
    wrong: set[str] = set()
    for path, flavor in queue.at("spec", "resourceGroups", "*", "flavors", "*", of=dict):
        for _, resource in queue.at(*path, "resources", "*", of=dict):
            name, most = str(resource.get("name")), amount_of(resource.get("nominalQuota"))
            if most is None:
                wrong.add(name)
            else:
                found[name][str(flavor.get("name"))] = most
    return {name: of_flavors for name, of_flavors in found.items() if name not in wrong}


def beyond(job: TrainingJob, queue: Manifest, there: Quotas) -> Iterator[Problem]:
    """Yield resources of which one pod set asks more than any flavor has, or all of them more than all flavors."""
    asked: dict[str, Decimal] = defaultdict(Decimal)
    places: dict[str, Place] = {}
    for pods in (pods for pods in job.pod_sets() if pods.counted):
        for name, need in pods.needs.items():
            wanted = need.amount * pods.count
            asked[name] += wanted
            places.setdefault(name, need.place)
            most = max(there[name].values()) if name in there else None
            if most is not None and wanted > most:
                has = f"no flavor of queue {queue.name!r} has more than {quantity_text(name, most)}"
                message = f"{pods.name} needs {quantity_text(name, wanted)} {name}, but {has}; request less"
                yield Problem(need.place, message)
                return
    for name, wanted in asked.items():
        if name in there and wanted > sum(there[name].values()):
            has = f"queue {queue.name!r} has {quantity_text(name, sum(there[name].values(), Decimal()))}"
            message = f"the job needs {quantity_text(name, wanted)} {name}, but {has}; request less"
            yield Problem(places[name], message)
            return
