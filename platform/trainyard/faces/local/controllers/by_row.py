"""Kinds without a controller of their own here: pods as their row says, below a Service that is called as the object.

What such a controller really adds is not known. A variable beside the index of a pod would be missing, so that an
object whose pods get one is refused.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

from trainyard.base.labels import OBJECT
from trainyard.base.manifests import value_at
from trainyard.faces.local.controllers.base import (
    Controller,
    Made,
    Object,
    Objects,
    Pod,
    RunError,
    add_to_all,
    name_of,
    namespace_of,
    pod,
    service,
    variable,
)
from trainyard.render.kinds import kind_of
from trainyard.render.sizing import WORKER
from trainyard.upstream.workloads import Carrier, PodSet


class ByRow(Controller):
    """Pods of any kind that has a row."""

    def __init__(self, row: Carrier) -> None:
        self.row, self.group, self.kind = row, row.group, row.kind

    def make(self, job: Object, _objects: Objects) -> Made:
        """Return the pods of all pod sets, and the Service below which they have names."""
        name, namespace = name_of(job), namespace_of(job)
        pods = [made for pod_set in self.row.pod_sets(job) for made in self.pods(job, pod_set)]
        if not pods:
            raise RunError(f"{self.kind} {name!r} has no pods at the fields that its kind's row names")
        return Made(tuple(pods), (service(name, namespace, {OBJECT: name}, unready=True),))

    def pods(self, job: Object, pod_set: PodSet) -> Iterator[Pod]:
        """Yield the pods of one pod set."""
        name, namespace = name_of(job), namespace_of(job)
        index = self.index(job, pod_set)
        for number in range(pod_set.count):
            host = self.host(job, pod_set, number)
            made = pod(value_at(job, pod_set.template), host, namespace, labels={OBJECT: name})
            made["spec"] = spec = copy.deepcopy(made["spec"])
            spec.setdefault("hostname", host)
            spec.setdefault("subdomain", name)
            if index:
                add_to_all(spec["containers"], variable(index, number))
            yield Pod(pod_set.name, number, made)

    def index(self, job: Object, pod_set: PodSet) -> str:
        """Return the variable that numbers pods, empty without one; raises RunError where there are others."""
        known = self.row.variables
        if known is None:
            return ""
        others = sorted(known.of(pod_set.name) - {known.index})
        if others:
            why = f"the value of {others[0]}, which its controller sets, is not known"
            advice = "install the controller by an entry point of trainyard.controllers"
            raise RunError(f"{self.kind} {name_of(job)!r} cannot run here: {why}; {advice}")
        return known.index if known.index in known.of(pod_set.name) else ""

    def host(self, job: Object, pod_set: PodSet, number: int) -> str:
        """Return the host name of a pod: that of the kind of runs where there is one."""
        name, kind = name_of(job), kind_of(job)
        if kind is None:
            return f"{name}-{pod_set.name}-{number}"
        role = next((role for role in kind.replicas or () if kind.called(role) == pod_set.name), "")
        return kind.host(name, role or (WORKER if kind.replicas else pod_set.name), number)
