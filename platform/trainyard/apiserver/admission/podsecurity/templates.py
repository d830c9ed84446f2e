"""Pods that objects make: those of their templates, of what they embed, and of the runtime that they name."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.apiserver.admission.podsecurity.added import Made, complete, submitter
from trainyard.apiserver.admission.podsecurity.pods import Pod
from trainyard.apiserver.admission.podsecurity.settings import Settings
from trainyard.apiserver.core.shapes import Object, inner, text
from trainyard.apiserver.problems import Path
from trainyard.apiserver.webhooks.around import Around, namespace_of
from trainyard.carriers import Carrier, carrier, carrier_of
from trainyard.manifests import matches, value_at

_TRAINER = "trainer.kubeflow.org"


def made(value: Object, row: Carrier, around: Around, settings: Settings, at: Path = ()) -> Iterator[Made]:
    """Yield every pod that an object has, by its kind's row; `at` is where the object itself is embedded."""
    if not row.namespaced:
        return
    for template in row.templates:
        for path, found in matches(value, template.pattern):
            if isinstance(found, dict) and inner(found, "spec"):
                yield complete(value, row, template, Pod(found, (*at, *path)), settings)
    yield from submitter(value, row, at)
    if (row.group, row.kind) == (_TRAINER, "TrainJob"):
        yield from of_runtime(value, around, at)
    if row.embeds is not None:
        for path, embedded in matches(value, row.embeds):
            inside = carrier_of(embedded) if isinstance(embedded, dict) else None
            if inside is not None and inside is not row:
                yield from made(embedded, inside, around, settings, (*at, *path))


def of_runtime(job: Object, around: Around, at: Path) -> Iterator[Made]:
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
        yield Made(pod, pod, place=(*at, "spec", "runtimeRef"))
