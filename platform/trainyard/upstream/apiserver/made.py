"""Pods that a controller makes of an object, and that the API server refuses then.

A definition describes the form of the pod templates in a kind, and no more: what Kubernetes' own code asks of pods is
asked when the controller makes them. A JobSet whose container has no image is taken, and its Job never comes to be.

Sources: jobset v0.12.0 pkg/controllers/jobset_controller.go constructJob; training-operator v1.9.4
pkg/controller.v1/common/pod.go setRestartPolicy; kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go;
mpi-operator v0.8.0 pkg/controller/mpi_job_controller.go; volcano v1.14.1 pkg/controllers/job/plugins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.base.manifests import matches, value_at
from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core import job, podtemplate
from trainyard.upstream.apiserver.core.shapes import Object, each, inner, text
from trainyard.upstream.apiserver.problems import Path, Problem
from trainyard.upstream.apiserver.schema.defaults import copy_containers
from trainyard.upstream.workloads import Carrier, Template

KUBEFLOW = "kubeflow.org"
OF_JOB: Path = ("template", "spec", "template")
"""The way from a replicated job to its pods, beside which stands the specification of a Job."""


def check(value: Object, row: Carrier, *, kubernetes: str) -> Iterator[Problem]:
    """Yield why the server would refuse what a controller makes of an object of sound structure, at the object's field.

    Names that controllers give and fields that they set are theirs, and nothing is said of them. Of a runtime nothing
    is made before a TrainJob says the rest.
    """
    if row.idle:
        return
    for template in row.templates:
        for path, holder in matches(value, template.holder):
            found = value_at(holder, template.within) if isinstance(holder, dict) else None
            if not isinstance(found, dict) or not isinstance(found.get("spec"), dict):
                continue
            at, whole = (*path, *template.within), make_carried(value, holder, template, row)
            if template.within == OF_JOB:
                at = at[:-1]
                job.default(whole, minor(kubernetes))
                problems = job.check(whole, kubernetes=kubernetes)
            else:
                podtemplate.default(whole, minor(kubernetes))
                problems = podtemplate.check(whole, kubernetes=kubernetes)
            for problem in problems:
                if problem.path[0] in {"spec", "template"}:
                    yield replace(problem, path=(*at, *problem.path[1:]))


def make_carried(value: Object, holder: Object, template: Template, row: Carrier) -> Object:
    """Return the Job of a replicated job, or else the template of pods, with what controllers add that is asked for."""
    found = copy_containers(value_at(holder, template.within))
    pod = found["spec"]
    containers = [one for field in ("containers", "initContainers") for _, one in each(pod, field)]
    mounted = {text(mount, "name") for one in containers for _, mount in each(one, "volumeMounts")}
    there = {text(volume, "name") for _, volume in each(pod, "volumes")}
    brought = claimed_volumes(value, holder)
    added = [name for name in sorted(mounted - there) if name in brought or name.endswith(row.volumes)]
    if added:
        pod["volumes"] = [*(pod.get("volumes") or ()), *({"name": name, "emptyDir": {}} for name in added)]
    if template.within != OF_JOB:
        if row.group == KUBEFLOW and "restartPolicy" in holder:
            pod["restartPolicy"] = "Never" if holder["restartPolicy"] == "ExitCode" else holder["restartPolicy"]
        return {"template": found}
    spec = {**copy_containers(inner(holder, "template", "spec")), "template": found}
    spec.setdefault("completionMode", "Indexed")
    pod.setdefault("restartPolicy", "OnFailure")
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": ""}, "spec": spec}


def claimed_volumes(value: Object, holder: Object) -> set[str]:
    """Return the names of volumes that a controller makes of templates of claims: of a LeaderWorkerSet, of a JobSet."""
    templates = [claim for _, claim in each(holder, "volumeClaimTemplates")]
    for _, policy in each(inner(value, "spec"), "volumeClaimPolicies"):
        templates += [claim for _, claim in each(policy, "templates")]
    return {text(inner(claim, "metadata"), "name") for claim in templates}
