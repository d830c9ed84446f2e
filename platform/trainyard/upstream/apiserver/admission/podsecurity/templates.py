"""Pods that objects make: those of their templates, and of the runtime that they name."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.manifests import matches, value_at
from trainyard.upstream.apiserver.admission.podsecurity.added import Made, complete, submitter
from trainyard.upstream.apiserver.admission.podsecurity.pods import Pod
from trainyard.upstream.apiserver.admission.podsecurity.settings import Settings
from trainyard.upstream.apiserver.core.shapes import Object, inner, text
from trainyard.upstream.apiserver.webhooks.around import Around, namespace_of
from trainyard.upstream.workloads import Carrier, carrier

_TRAINER = "trainer.kubeflow.org"


def made_pods(value: Object, row: Carrier, around: Around, settings: Settings) -> Iterator[Made]:
    """Yield every pod that an object has, by its kind's row; objects that it holds are judged by themselves."""
    if not row.namespaced:
        return
    for template in row.templates:
        for path, found in matches(value, template.pattern):
            if isinstance(found, dict) and inner(found, "spec"):
                yield complete(value, row, template, Pod(found, path), settings)
    yield from submitter(value, row)
    if (row.group, row.kind) == (_TRAINER, "TrainJob"):
        yield from of_runtime(value, around)


def of_runtime(job: Object, around: Around) -> Iterator[Made]:
    """Yield the pods of a TrainJob, which are written in its runtime; none where the job patches them."""
    spec = inner(job, "spec")
    if spec.get("runtimePatches") or spec.get("podTemplateOverrides"):
        return
    reference = inner(spec, "runtimeRef")
    row = carrier(_TRAINER, text(reference, "kind") or "ClusterTrainingRuntime")
    if row is None:
        return
    namespace = namespace_of(job) if row.namespaced else None
    runtime = around.find(_TRAINER, row.kind, text(reference, "name"), namespace=namespace)
    for pod_set in row.pod_sets(runtime or {}):
        pod = Pod(value_at(runtime, pod_set.template), pod_set.template)
        yield Made(pod, pod, place=("spec", "runtimeRef"))
