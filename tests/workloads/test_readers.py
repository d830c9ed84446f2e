"""Every reader is asked about every kind: it has an answer, or the kind's row says why it has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainyard.base.documents import Document
from trainyard.base.manifests import ANY, Manifest, identity_of
from trainyard.change.plan.read.shape import shape as planned
from trainyard.faces.local.controllers import controller_of
from trainyard.faces.local.lives import lives
from trainyard.judge.policies.world import World
from trainyard.render.tenancy.objects import shape as allowed
from trainyard.upstream.apiserver import webhooks
from trainyard.upstream.apiserver.admission.podsecurity import admission
from trainyard.upstream.kueue.requests.jobs import is_job
from trainyard.upstream.workloads import Carrier, carrier, carriers, held_by
from trainyard.upstream.workloads.unread import READERS

POD = {"metadata": {}, "spec": {"hostPID": True, "containers": [{"name": "a", "image": "b"}]}}
NAMESPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "nlp", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
}
ROWS = {f"{row.kind} of {row.group or 'core'}": row for row in carriers().values()}


def nested(path: tuple[str | int, ...], value: Any, *, roles: tuple[str, ...] | None) -> Any:
    """Return a value below a pattern."""
    if not path:
        return value
    below = nested(path[1:], value, roles=roles)
    if path[0] == ANY:
        return {(roles or ("Worker",))[-1]: below} if roles is not None else [below]
    return {str(path[0]): below}


def an_object(row: Carrier) -> dict[str, Any]:
    """Return an object of a kind with a pod template, or with what has one."""
    head = {"apiVersion": f"{row.group}/v1" if row.group else "v1", "kind": row.kind}
    own: dict[str, Any] = {"spec": {}}
    if row.embeds is not None:
        job = carrier("batch", "Job")
        assert job is not None
        own = nested(row.embeds, an_object(job), roles=None)
    elif row.kind == "TrainJob":
        own = {"spec": {"runtimeRef": {"name": "torch"}}}
    elif row.templates:
        template = row.templates[0]
        own = nested(template.pattern, POD, roles=template.roles)
    metadata = {"name": "a", **({"namespace": "nlp"} if row.namespaced else {})}
    return {**own, **head, "metadata": {**metadata, **own.get("metadata", {})}}


def runtime() -> dict[str, Any]:
    """Return the runtime that the TrainJob names."""
    row = carrier("trainer.kubeflow.org", "ClusterTrainingRuntime")
    assert row is not None
    found = an_object(row)
    return {**found, "metadata": {"name": "torch"}}


def by_policies(value: dict[str, Any]) -> bool:
    """Whether policies in Python look at the pods of an object."""
    both = [Manifest(Document("", number, item), item) for number, item in enumerate((value, runtime()))]
    found = [job for job in World(tuple(both)).workloads() if job.manifest.outer.value is value]
    return any(job.pod_sets() or job.pods_in is None for job in found)


def by_security(value: dict[str, Any]) -> bool:
    """Whether Pod Security judges the pods of an object, or of what it holds."""
    around = webhooks.gather_objects([NAMESPACE, runtime(), value], complete=True)
    judge = admission([NAMESPACE], kubernetes="1.35")
    assert judge is not None
    every = [value, *(held for _, held in held_by(value))]
    return any(
        next(judge.check(item, group=item["apiVersion"].rpartition("/")[0], kind=item["kind"], around=around), None)
        for item in every
    )


def by_life(value: dict[str, Any]) -> bool:
    """Whether an object, or what it holds, has a controller that does more than to wait for all pods."""
    found = [controller_of(item) for item in (value, *(held for _, held in held_by(value)))]
    return any(known in lives() for controller in found for known in type(controller).__mro__)


def by_webhooks(value: dict[str, Any]) -> bool:
    """Whether the kind's operator, or Kueue, refuses some objects of the kind."""
    key = identity_of(value)[:2]
    return key in webhooks.ADMISSION or key in webhooks.RECONCILE


ANSWERS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "policies": by_policies,
    "tenancy": lambda value: allowed(value["apiVersion"].rpartition("/")[0], value["kind"]) is not None,
    "queueing": is_job,
    "run": lambda value: any(map(controller_of, (value, *(held for _, held in held_by(value))))),
    "plan": lambda value: bool(planned([value, runtime()], {}).pods),
    "podsecurity": by_security,
    "life": by_life,
    "webhooks": by_webhooks,
}


def test_all_readers_are_asked() -> None:
    """The readers that a row may speak of are those that are asked here; policies in CEL have a test of their own."""
    assert set(ANSWERS) == set(READERS)


@pytest.mark.parametrize("reader", ANSWERS)
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_reader_has_an_answer_or_the_row_a_reason(row: Carrier, reader: str) -> None:
    """Neither is missing, and no reason stands where there is an answer."""
    assert ANSWERS[reader](an_object(row)) is (reader not in row.unread), row.unread.get(reader, "no answer")
