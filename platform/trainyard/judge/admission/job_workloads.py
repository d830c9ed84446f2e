"""What a job asks of Kueue, made of its rendered objects: the Workloads, or why there are none."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from trainyard.base.manifests import value_at
from trainyard.judge.admission.inventory import channel
from trainyard.judge.admission.site import Site
from trainyard.render.operators.volcano import Volcano
from trainyard.render.parts.gang import KIND as POD_GROUP
from trainyard.upstream.kueue.requests.annotations import PREFERRED, REQUIRED, SLICE_LEVEL
from trainyard.upstream.kueue.requests.devices import extended_requests
from trainyard.upstream.kueue.requests.jobs import NotMade, workloads
from trainyard.upstream.scheduler.classes import serving_class
from trainyard.upstream.workloads import Carrier, carrier_of
from trainyard.upstream.workloads.kubernetes import is_pod

Object = Mapping[str, Any]

BY_VOLCANO = "Volcano starts it, not Kueue"

PODS = frozenset(
    {
        *("affinity", "nodeSelector", "overhead", "priority", "priorityClassName", "resourceClaims", "resources"),
        *("runtimeClassName", "tolerations", "topologySpreadConstraints"),
    }
)
"""Fields of pods by which Kueue decides, beside those of their containers."""

CONTAINERS = frozenset({"name", "ports", "resources", "restartPolicy"})


class Bidder(Protocol):
    """A job, and the Workloads that Kueue makes of it."""

    @property
    def name(self) -> str:
        """The job as `<team>/<job>`."""

    @property
    def workloads(self) -> Sequence[Object]:
        """Its Workloads."""

    @property
    def owners(self) -> Sequence[Object]:
        """The object that each of the Workloads is made of."""

    @property
    def beside(self) -> Sequence[Object]:
        """Other objects of the run that Kueue or another scheduler reads."""

    @property
    def why(self) -> str:
        """Why Kueue is not asked; empty where it is."""

    @property
    def gang(self) -> bool:
        """Whether Volcano starts it: its one Workload is its pods in the same form, and Kueue is not asked."""

    @property
    def keys(self) -> list[str]:
        """What its Workloads are called in answers."""

    @property
    def shape(self) -> str:
        """A text that is the same for jobs of one namespace that ask for the same."""


@dataclass(frozen=True)
class Bid:
    """The Workloads of one job, and what Kueue reads beside them, or why Kueue is not asked."""

    name: str
    workloads: Sequence[Object] = ()
    owners: Sequence[Object] = ()
    """The object that each of the Workloads is made of."""
    beside: Sequence[Object] = ()
    """Other objects of the run that Kueue or another scheduler reads: templates of claims, groups of pods."""
    why: str = ""
    gang: bool = False
    """Whether Volcano starts it: its one Workload is its pods in the same form."""

    @cached_property
    def keys(self) -> list[str]:
        """What its Workloads are called in answers."""
        return keys(self.workloads)

    @cached_property
    def shape(self) -> str:
        """A text that is the same for jobs of one namespace that ask for the same."""
        return shape_of(self.workloads)


def keys(workloads: Iterable[Object]) -> list[str]:
    """Return the keys of Workloads in Kueue's answers."""
    return [f"{workload['metadata']['namespace']}/{workload['metadata']['name']}" for workload in workloads]


def bid(name: str, values: Collection[dict[str, Any]], there: Collection[Object], where: Site) -> Bid:
    """Return the Workloads of a run's objects; `there` are the other objects on the cluster."""
    beside = [channel(value) for value in values if value["kind"] == "ComputeDomain"]
    beside += [value for value in values if value["kind"] in {"ResourceClaimTemplate", POD_GROUP}]
    others = [*there, *values, *beside]
    found, owners, kinds = list[Object](), list[Object](), list[str]()
    for value in values:
        row = carrier_of(value)
        if row is None or not (row.trains or is_pod(value)):
            continue
        if row.operator == Volcano.name or where.cluster.scheduler_of(row.operator) == "volcano":
            together = gang(value) if row.operator == Volcano.name else group(value, row)
            why = where.volcano
            return Bid(name, why=why) if why else Bid(name, [together], [value], beside, BY_VOLCANO, gang=True)
        kinds.append(row.kind)
        if row.framework and row.framework not in where.integrated:
            return Bid(
                name, why=f"Kueue does not manage {row.framework} here, so the job would start outside every quota"
            )
        if row.framework:
            try:
                made = workloads(value, others, where.gates)
            except NotMade as error:
                return Bid(name, why=f"Kueue creates no Workload for it: {error}")
            found, owners = [*found, *made], [*owners, *(value for _ in made)]
    if varied := next(filter(None, (where.varied(item) for item in found)), ""):
        return Bid(name, why=f"queue {varied} has a concurrentAdmissionPolicy; which variant wins cannot be predicted")
    if served := served_by_devices(found, where):
        return Bid(name, why=f"DeviceClass {served[1]} serves {served[0]}; which nodes have its devices is not known")
    if not found:
        return Bid(name, why=f"Kueue does not manage kind {kinds[0]} here" if kinds else "it has no workload")
    return Bid(name, found, owners, beside)


def served_by_devices(workloads: Iterable[Object], where: Site) -> tuple[str, str] | None:
    """Return a resource of these Workloads that devices of a class serve and no device plugin offers, and the class."""
    classes = where.of("DeviceClass")
    if not classes:
        return None
    specs = (pod_set["template"].get("spec") or {} for item in workloads for pod_set in item["spec"]["podSets"])
    asked = (name for spec in specs for _, _, name, _ in extended_requests(spec))
    return serving_class(asked, classes, where.offered, where.cluster.minor)


def is_judged(bid: Bidder) -> bool:
    """Whether it is said what becomes of a job: Kueue is asked, or Volcano starts it."""
    return bid.gang or not bid.why


def gang(job: Object) -> Object:
    """Return the pods of a Job of Volcano's in the form of a Workload, with how many of them there have to be.

    Of what a job leaves out, Volcano's webhook says all pods (pkg/webhooks/admission/jobs/mutate).
    """
    spec, metadata = job.get("spec") or {}, job["metadata"]
    sets = [
        {
            "name": str(task.get("name")),
            "count": task.get("replicas", 1),
            "least": task.get("minAvailable", task.get("replicas", 1)),
            "template": task.get("template") or {},
        }
        for task in spec.get("tasks") or ()
    ]
    every = sum(set_["least"] for set_ in sets)
    asked = {"queueName": spec.get("queue", "default"), "least": spec.get("minAvailable", every), "podSets": sets}
    return {"metadata": {"name": metadata["name"], "namespace": metadata.get("namespace") or ""}, "spec": asked}


def group(job: Object, row: Carrier) -> Object:
    """Return the pods of a job whose operator groups them for Volcano, in the same form.

    The group's least number is of any of its pods. The launcher of an MPIJob comes when the workers are ready, and its
    resources are asked for with theirs, so that every pod of a job that may not shrink has to find a node.
    """
    spec, metadata = job.get("spec") or {}, job["metadata"]
    policy = (spec.get("runPolicy") or {}).get("schedulingPolicy") or {}
    found = [pods for template in row.templates for pods in template.pod_sets(job)]
    every = sum(pods.count for pods in found)
    later = sum(pods.count for pods in found if pods.name == "launcher")
    least = min(every, policy.get("minAvailable", every) + later)
    sets = [
        {
            "name": pods.name,
            "count": pods.count,
            "least": max(0, pods.count - (every - least)),
            "template": value_at(job, pods.template) or {},
        }
        for pods in found
    ]
    asked = {"queueName": policy.get("queue", "default"), "least": least, "podSets": sets}
    return {"metadata": {"name": metadata["name"], "namespace": metadata.get("namespace") or ""}, "spec": asked}


def bare(workload: Object) -> Object:
    """Return a Workload without all fields of its pods by which Kueue does not decide."""
    spec = workload["spec"]
    sets = [{**pod_set, "template": bare_template(pod_set["template"])} for pod_set in spec["podSets"]]
    return {**workload, "spec": {**spec, "podSets": sets}}


def bare_template(template: Object) -> Object:
    """Return the fields of a template by which Kueue decides; the topology that it asks for, where gates are off."""
    asked = topology(template)
    noted = {"metadata": {"annotations": asked}} if asked else {}
    return {**noted, "spec": of_pods(template.get("spec") or {})}


def topology(template: Object) -> dict[str, str]:
    """Return the annotations by which pods ask for a topology."""
    notes = (template.get("metadata") or {}).get("annotations") or {}
    return {name: notes[name] for name in (REQUIRED, PREFERRED, SLICE_LEVEL) if name in notes}


def asks_topology(workload: Object) -> bool:
    """Say whether pods of a Workload ask for a topology."""
    return any(topology(pod_set["template"]) for pod_set in workload["spec"]["podSets"])


def of_pods(spec: Object) -> Object:
    """Return the fields of pods by which Kueue decides."""
    kept = {name: value for name, value in spec.items() if name in PODS}
    for field in ("initContainers", "containers"):
        if spec.get(field):
            kept[field] = [{name: item[name] for name in item if name in CONTAINERS} for item in spec[field]]
    return kept


def shape_of(workloads: Iterable[Object]) -> str:
    """Return a text that is the same for Workloads of one namespace that ask for the same."""
    asked = [(workload["metadata"]["namespace"], bare(workload)["spec"]) for workload in workloads]
    return json.dumps(asked, sort_keys=True)
