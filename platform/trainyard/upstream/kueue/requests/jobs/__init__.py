"""The Workloads that Kueue makes of jobs: one a job, a group of a LeaderWorkerSet, or a group of plain pods.

Source: kueue v0.19.2 pkg/controller/jobframework/reconciler.go ConstructWorkload, pkg/controller/jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.labels import QUEUE
from trainyard.base.manifests import identity_of
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.model.limits import most_pod_sets
from trainyard.upstream.kueue.requests.annotations import Malformed, topology_request
from trainyard.upstream.kueue.requests.jobs.appwrapper import appwrapper
from trainyard.upstream.kueue.requests.jobs.carried import carried_workload
from trainyard.upstream.kueue.requests.jobs.groups import group_of, pod_group
from trainyard.upstream.kueue.requests.jobs.lws import leader_worker_set
from trainyard.upstream.kueue.requests.jobs.names import workload_name
from trainyard.upstream.kueue.requests.jobs.parts import Made, NotMade, Object, Part, template_metadata
from trainyard.upstream.kueue.requests.jobs.priorities import priority
from trainyard.upstream.kueue.requests.jobs.ray import ray
from trainyard.upstream.workloads import carrier_of

__all__ = ["NotMade", "is_job", "key_of", "workloads"]

API = "kueue.x-k8s.io/v1beta2"
GATED = "kueue.x-k8s.io/admission-gated-by"
GROUP_WORKLOAD = "kueue.x-k8s.io/is-group-workload"

Maker = Callable[[Object, list[Object]], Iterable[Made]]

MAKERS: Mapping[tuple[str, str], Maker] = {
    **{("ray.io", f"Ray{name}"): ray for name in ("Cluster", "Job", "Service")},
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): leader_worker_set,
    ("workload.codeflare.dev", "AppWrapper"): appwrapper,
    ("", "Pod"): pod_group,
}
"""What makes pod sets that are not just the templates of the object's row."""


def maker_of(value: Object) -> Maker | None:
    """Return the maker of an object's pod sets, None where Kueue makes no Workload of its kind.

    Deployments and StatefulSets have none: each of their pods, or all, are a job. Of a kind whose own controller tells
    Kueue of it, the pod sets are taken to be those of its row.
    """
    identity, row = identity_of(value), carrier_of(value)
    queued = row is not None and row.framework is not None and "queueing" not in row.unread
    return MAKERS.get((identity.group, identity.kind), carried_workload) if queued else None


def is_job(value: Object) -> bool:
    """Whether Kueue makes Workloads of a kind itself."""
    return maker_of(value) is not None


def key_of(value: Object) -> str:
    """Return the key of a job: kind, namespace and name; a pod of a group stands for the group."""
    identity = identity_of(value)
    namespace, group = identity.namespace or "default", group_of(value)
    return f"PodGroup {namespace}/{group}" if group else f"{identity.kind} {namespace}/{identity.name}"


def workloads(value: Object, others: Iterable[Object], gates: Gates) -> list[dict[str, Any]]:
    """Return the Workloads that Kueue makes of a job, as objects; none where it leaves the job to somebody else.

    `others` are the objects beside it: runtimes, priority classes, the other pods of a group. Raises NotMade.
    """
    maker = maker_of(value)
    if maker is None:
        return []
    beside = list(others)
    try:
        return [workload(value, few(made, gates), beside, gates) for made in maker(value, beside)]
    except Malformed as error:
        raise NotMade(str(error)) from error


def few(made: Made, gates: Gates) -> Made:
    """Return the parts of a Workload; raises NotMade where it has more pod sets than the server takes of one.

    The controller tries again for ever then, and the job waits without a Workload; of a group of pods it gives up.
    """
    count, most = len(made.parts), most_pod_sets(gates.release)
    if count <= most:
        return made
    if made.group:
        raise NotMade(f"pod group can't include more than {most} roles")
    raise NotMade(f"it has {count} pod sets, and a Workload of Kueue {gates.release} takes at most {most}")


def workload(value: Object, made: Made, others: list[Object], gates: Gates) -> dict[str, Any]:
    """Return one Workload as an object."""
    metadata = value.get("metadata") or {}
    labels, notes = metadata.get("labels") or {}, metadata.get("annotations") or {}
    sets = [pod_set(part, gates) for part in made.parts]
    number, reference = priority(value, [part.template for part in made.parts], others)
    kept = {GATED: notes[GATED]} if gates["AdmissionGatedBy"] and GATED in notes else {}
    spec: dict[str, Any] = {"podSets": sets, "priority": number}
    if QUEUE in labels:
        spec["queueName"] = labels[QUEUE]
    if reference is not None:
        spec["priorityClassRef"] = reference
    name = made.name or workload_name(value, made.owner, elastic=gates["ElasticJobsViaWorkloadSlices"])
    own = {"name": name, "namespace": metadata.get("namespace") or "default"}
    annotations = kept | ({GROUP_WORKLOAD: "true"} if made.group else {})
    return {
        "apiVersion": API,
        "kind": "Workload",
        "metadata": {**own, "annotations": annotations} if annotations else own,
        "spec": spec,
    }


def pod_set(part: Part, gates: Gates) -> dict[str, Any]:
    """Return one pod set as a Workload has it."""
    found: dict[str, Any] = {"name": part.name, "count": part.count, "template": part.template}
    if part.min_count is not None and gates["PartialAdmission"]:
        found["minCount"] = part.min_count
    request = topology_request(template_metadata(part.template), part.index, gates)
    if request is not None:
        found["topologyRequest"] = request
    return found


def every(objects: Iterable[Object], gates: Gates) -> Iterator[tuple[str, list[dict[str, Any]] | NotMade]]:
    """Yield each job among objects with its Workloads, or why none are made."""
    there = list(objects)
    seen: set[str] = set()
    for value in there:
        if is_job(value) and (key := key_of(value)) not in seen:
            seen.add(key)
            try:
                yield key, workloads(value, there, gates)
            except NotMade as error:
                yield key, error
