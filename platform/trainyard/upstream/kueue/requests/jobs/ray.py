"""Ray's clusters, with the containers that KubeRay adds to their heads.

Source: kueue v0.19.2 pkg/controller/jobs/raycluster/common.go, rayjob/rayjob_controller.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.base.manifests import identity_of, value_at
from trainyard.base.quantities import Quantity
from trainyard.upstream.kueue.requests.jobs.parts import Made, NotMade, Object, Part, notes_of
from trainyard.upstream.workloads import carrier_of
from trainyard.upstream.workloads.ray import HEAD, SUBMITS, SUBMITTER

FAULT_TOLERANT = "ray.io/ft-enabled"
CLEANS = {"cpu": "200m", "memory": "256Mi"}
"""What the Job gets that cleans up Redis, which Kueue counts as the head's least."""

CLUSTER = {"RayCluster": ("spec",), "RayJob": ("spec", "rayClusterSpec"), "RayService": ("spec", "rayClusterConfig")}
MODE = "K8sJobMode"
"""How jobs are submitted unless they say it: by a pod of its own."""


def ray(value: Object, _others: Sequence[Object]) -> Iterator[Made]:
    """Yield the one Workload of a Ray cluster or job; none of a job that runs on a cluster that is there."""
    spec = value.get("spec") or {}
    if identity_of(value).kind == "RayJob" and spec.get("clusterSelector"):
        return
    row = carrier_of(value)
    cluster: Object = value_at(value, CLUSTER[identity_of(value).kind]) or {}
    parts = []
    for pod_set in row.pod_sets(value) if row is not None else ():
        if pod_set.name != SUBMITTER or pod_set.template[-1:] != ("submitterPodTemplate",):
            template: Object = value_at(value, pod_set.template)
            is_head = "headGroupSpec" in pod_set.template
            parts.append(Part(pod_set.name, pod_set.count, head(value, cluster, template) if is_head else template))
    if identity_of(value).kind == "RayJob" and (spec.get("submissionMode") or MODE) == MODE:
        parts.append(Part(SUBMITTER, 1, spec.get("submitterPodTemplate") or submitter()))
    yield Made(tuple(parts))


def head(value: Object, cluster: Object, template: Object) -> Object:
    """Return the head's template with what KubeRay adds; raises NotMade where there is nothing to add it to."""
    pod = template.get("spec") or {}
    containers = [*(pod.get("containers") or ())]
    if cluster.get("gcsFaultToleranceOptions") is not None or notes_of(value).get(FAULT_TOLERANT, "").lower() == "true":
        if not containers:
            message = "cannot account for Redis cleanup resources: head pod template must include the Ray container"
            raise NotMade(message)
        containers[0] = at_least(containers[0], CLEANS)
    row = carrier_of(value)
    added = row.arriving(value, HEAD) if row is not None and row.arriving is not None else ()
    containers += [{"name": item.name, "resources": item.fields["resources"]} for item in added]
    return {**template, "spec": {**pod, "containers": containers}}


def at_least(container: Object, least: Mapping[str, str]) -> Object:
    """Return a container that asks for no less than some amounts."""
    resources = container.get("resources") or {}
    requests: dict[str, Any] = dict(resources.get("requests") or {})
    for name, amount in least.items():
        if name not in requests or Quantity.parse(requests[name]) < Quantity.parse(amount):
            requests[name] = amount
    return {**container, "resources": {**resources, "requests": requests}}


def submitter() -> Object:
    """Return the template of the pod that submits a job."""
    return {"spec": {"containers": [{"name": "ray-job-submitter", "resources": SUBMITS}], "restartPolicy": "Never"}}
