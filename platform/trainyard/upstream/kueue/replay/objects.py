"""Objects of Kueue and Kubernetes as values of the model, with the defaults that the API server fills in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.base.labels import HOSTNAME
from trainyard.base.quantities import Quantity
from trainyard.upstream.kueue.model.amounts import quota, requested_amount
from trainyard.upstream.kueue.model.flavors import ResourceFlavor, Topology
from trainyard.upstream.kueue.model.nodes import Node, RunningPod
from trainyard.upstream.kueue.model.placements import Surroundings
from trainyard.upstream.kueue.model.queues import (
    BEST_EFFORT,
    MAY_STOP,
    NEVER,
    RUN,
    TRY_NEXT,
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    Fungibility,
    LocalQueue,
    Preemption,
    Quota,
    ResourceGroup,
)
from trainyard.upstream.kueue.model.workloads import PodSet, SliceConstraint, TopologyRequest, Workload
from trainyard.upstream.kueue.replay.case import Case, Given, nanoseconds
from trainyard.upstream.pods.resources import PODS
from trainyard.upstream.pods.taints import Taint, Toleration

MAX_PODS = 110
USAGE_BASED = "UsageBasedAdmissionFairSharing"
BOOST = "kueue.x-k8s.io/priority-boost"


def taint(value: Mapping[str, Any]) -> Taint:
    """Read a taint."""
    return Taint(*(str(value.get(field) or "") for field in ("key", "value", "effect")))


def flavor(given: Given) -> ResourceFlavor:
    """Read a ResourceFlavor."""
    spec = given.spec
    return ResourceFlavor(
        given.name,
        spec.get("nodeLabels") or {},
        tuple(taint(node_taint) for node_taint in spec.get("nodeTaints") or ()),
        tuple(Toleration.read(toleration) for toleration in spec.get("tolerations") or ()),
        spec.get("topologyName"),
    )


def topology(given: Given) -> Topology:
    """Read a Topology."""
    return Topology(given.name, tuple(level["nodeLabel"] for level in given.spec.get("levels") or ()))


def node(given: Given) -> Node:
    """Read a Node; without conditions it is ready."""
    spec, status = given.spec, given.status
    offered = status.get("allocatable") if status.get("allocatable") is not None else status.get("capacity")
    allocatable = {name: requested_amount(name, amount) for name, amount in (offered or {}).items()}
    if offered is not None:
        allocatable.setdefault(PODS, MAX_PODS)
    conditions = status.get("conditions") or [{"type": "Ready", "status": "True"}]
    ready = any(condition.get("type") == "Ready" and condition.get("status") == "True" for condition in conditions)
    labels = dict(given.labels)
    labels[HOSTNAME] = labels.get(HOSTNAME) or given.name
    taints = tuple(taint(one_taint) for one_taint in spec.get("taints") or ())
    return Node(given.name, labels, taints, bool(spec.get("unschedulable")), ready, allocatable)


def read_pod(given: Given) -> RunningPod:
    """Read a Pod."""
    spec, phase = given.spec, str(given.status.get("phase") or "")
    where = str(spec.get("nodeName") or "")
    return RunningPod(given.namespace, given.name, where, spec, given.labels, given.annotations, phase)


def groups(spec: Mapping[str, Any]) -> tuple[ResourceGroup, ...]:
    """Read the resource groups of a queue or a cohort."""
    found = []
    for group in spec.get("resourceGroups") or ():
        quotas = {}
        for one_flavor in group.get("flavors") or ():
            for resource in one_flavor.get("resources") or ():
                name = resource["name"]
                nominal, borrowing, lending = (
                    None if resource.get(field) is None else quota(name, resource[field])
                    for field in ("nominalQuota", "borrowingLimit", "lendingLimit")
                )
                quotas[one_flavor["name"], name] = Quota(nominal or 0, borrowing, lending)
        flavors = tuple(one_flavor["name"] for one_flavor in group.get("flavors") or ())
        found.append(ResourceGroup(tuple(group.get("coveredResources") or ()), flavors, quotas))
    return tuple(found)


def weight(spec: Mapping[str, Any]) -> float:
    """Read the weight of fair sharing."""
    value = (spec.get("fairSharing") or {}).get("weight")
    return 1.0 if value is None else float(Quantity.parse(value).amount)


def cluster_queue(given: Given) -> ClusterQueue:
    """Read a ClusterQueue."""
    spec = given.spec
    rule, fungible = spec.get("preemption") or {}, spec.get("flavorFungibility") or {}
    borrow = rule.get("borrowWithinCohort") or {}
    resource_groups = groups(spec)
    every = frozenset(one_flavor for group in resource_groups for one_flavor in group.flavors)
    strategy = spec.get("admissionChecksStrategy") or {}
    return ClusterQueue(
        given.name,
        spec.get("cohortName") or "",
        resource_groups,
        spec.get("namespaceSelector"),
        spec.get("queueingStrategy") or BEST_EFFORT,
        spec.get("stopPolicy") or RUN,
        Preemption(
            rule.get("withinClusterQueue") or NEVER,
            rule.get("reclaimWithinCohort") or NEVER,
            borrow.get("policy") or NEVER,
            borrow.get("maxPriorityThreshold"),
        ),
        Fungibility(
            fungible.get("whenCanBorrow") or MAY_STOP,
            fungible.get("whenCanPreempt") or TRY_NEXT,
            fungible.get("preference"),
        ),
        weight(spec),
        {
            admission_check["name"]: frozenset(admission_check.get("onFlavors") or every)
            for admission_check in strategy.get("admissionChecks") or ()
        },
        (spec.get("admissionScope") or {}).get("admissionMode") == USAGE_BASED,
    )


def cohort(given: Given) -> Cohort:
    """Read a Cohort."""
    return Cohort(given.name, given.spec.get("parentName") or "", groups(given.spec), weight(given.spec))


def local_queue(given: Given) -> LocalQueue:
    """Read a LocalQueue, with what it used so far."""
    spec = given.spec
    used = (given.status.get("fairSharing") or {}).get("admissionFairSharingStatus")
    consumed = (
        None
        if used is None
        else {name: str(consumed_resource) for name, consumed_resource in used["consumedResources"].items()}
    )
    stop = spec.get("stopPolicy") or RUN
    until = nanoseconds(used["lastUpdate"]) if used is not None else 0
    queue = spec.get("clusterQueue") or ""
    return LocalQueue(given.namespace, given.name, queue, stop, weight(spec), consumed, until)


def check(given: Given) -> AdmissionCheck:
    """Read an AdmissionCheck; without conditions it is active."""
    conditions = given.status.get("conditions") or [{"type": "Active", "status": "True"}]
    active = any(condition.get("type") == "Active" and condition.get("status") == "True" for condition in conditions)
    return AdmissionCheck(given.name, given.spec.get("controllerName") or "", active)


def topology_request(value: Mapping[str, Any] | None) -> TopologyRequest | None:
    """Read what pods ask of a topology."""
    if value is None:
        return None
    slices: Sequence[Mapping[str, Any]] = value.get("podsetSliceRequiredTopologyConstraints") or ()
    return TopologyRequest(
        value.get("required"),
        value.get("preferred"),
        value.get("unconstrained"),
        tuple(SliceConstraint(slice_["topology"], slice_["size"]) for slice_ in slices),
        value.get("podSetSliceRequiredTopology"),
        value.get("podSetSliceSize"),
        value.get("podSetGroupName"),
    )


def workload(given: Given, case: Case) -> Workload:
    """Read a Workload, with the priority of its class."""
    spec, sets = given.spec, []
    for pod_set in spec.get("podSets") or ():
        fewer = pod_set.get("minCount") if case.gates["PartialAdmission"] else None
        count = 1 if pod_set.get("count") is None else pod_set["count"]
        pods = (pod_set.get("template") or {}).get("spec") or {}
        request = topology_request(pod_set.get("topologyRequest"))
        sets.append(PodSet(pod_set.get("name") or "main", count, fewer, pods, request))
    active = spec.get("active") is not False
    queue, level = str(spec.get("queueName") or ""), priority(given, case)
    made = (given.namespace, given.name, given.uid, queue, level, given.created, tuple(sets))
    return Workload(*made, active, given.annotations, given.source)


def priority(given: Given, case: Case) -> int:
    """Return the effective priority: the Workload's, its class's, the default class's, and what it is boosted by."""
    own, ref = given.spec.get("priority"), given.spec.get("priorityClassRef")
    if own is None:
        classes = (*case.of("WorkloadPriorityClass"), *case.of("PriorityClass"))
        own = next((value for class_ in classes if (value := _level(class_, ref)) is not None), 0)
    boost = given.annotations.get(BOOST) if case.gates["PriorityBoost"] else None
    return int(own) + int(boost or 0)


def _level(given: Given, ref: Mapping[str, Any] | None) -> int | None:
    """Return the value of a priority class if it is meant."""
    if ref is None:
        meant = given.kind == "PriorityClass" and bool(given.source.get("globalDefault"))
    else:
        meant = (ref.get("kind"), ref.get("name")) == (given.kind, given.name)
    return int(given.source.get("value") or 0) if meant else None


def surroundings(case: Case) -> Surroundings:
    """Return the objects that change the requests of pods."""
    ranges: dict[str, list[Mapping[str, Any]]] = {}
    for one_case in sorted(case.of("LimitRange"), key=lambda given: (given.namespace, given.name)):
        ranges.setdefault(one_case.namespace, []).append(one_case.source)
    return Surroundings(
        ranges,
        {one_case.name: one_case.source for one_case in case.of("RuntimeClass")},
        {one_case.name: one_case.source for one_case in case.of("DeviceClass")},
        {(one_case.namespace, one_case.name): one_case.source for one_case in case.of("ResourceClaimTemplate")},
        case.config.get("resources") or {},
        case.gates,
    )
