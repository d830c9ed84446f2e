"""Rows of kinds: they say what the schemas say, none is missing, and nothing else repeats them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import ROOT
from sources import package
from trainyard.upstream.apiserver import Catalog, catalog
from trainyard.upstream.apiserver.webhooks import DEFAULTS
from trainyard.upstream.workloads import ANY, Carrier, carrier, carrier_of, carriers

DEEPEST = 14
ROWS = {f"{row.kind} of {row.group or 'core'}": row for row in carriers().values()}


@pytest.fixture(scope="module")
def known() -> Catalog:
    """All kinds that there are schemas of."""
    return catalog.load(ROOT / "schemas")[0]


def below(node: dict[str, Any], key: str | int) -> dict[str, Any]:
    """Return the schema of a field, or of the items of a list or map."""
    found = {**node.get("properties", {}), "*": node.get("items") or node.get("additionalProperties")}[str(key)]
    assert isinstance(found, dict), key
    return found


def schema_at(node: dict[str, Any], pattern: tuple[str | int, ...]) -> dict[str, Any]:
    """Return the schema of what stands at a pattern."""
    for key in pattern:
        node = below(node, key)
    return node


def templates_in(node: dict[str, Any], here: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the patterns of all pod templates that a schema has, where `spec.containers` is a list; some never end."""
    fields = node.get("properties", {})
    if "items" in fields.get("spec", {}).get("properties", {}).get("containers", {}):
        yield here
        return
    for key, item in {**fields, "*": node.get("items") or node.get("additionalProperties")}.items():
        if isinstance(item, dict) and key != "status" and len(here) < DEEPEST:
            yield from templates_in(item, (*here, key))


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_row_is_what_the_schemas_say(row: Carrier, known: Catalog) -> None:
    """Templates, the field that suspends and the keys of lists exist in every version of a kind; so does its scope."""
    versions = known.kinds[row.group, row.kind].values()
    assert versions
    for kind in versions:
        assert kind.namespaced == row.namespaced
        assert kind.plural == f"{row.kind.lower()}s"
        for template in row.templates:
            assert "containers" in schema_at(kind.schema, (*template.pattern, "spec"))["properties"]
            if template.roles is not None:
                assert "additionalProperties" in schema_at(kind.schema, template.collection)
        for name, keys in row.lists.items():
            (path,) = {template.collection for template in row.templates if template.collection[-1:] == (name,)}
            items = schema_at(kind.schema, path)
            assert items.get("x-kubernetes-list-map-keys", [*keys]) == [*keys]
            assert set(keys) <= set(below(items, ANY)["properties"])
        if row.suspend is not None:
            assert schema_at(kind.schema, row.suspend)["type"] == "boolean"


OTHERS = {
    ("flow.volcano.sh", "JobFlow"): "patches the tasks of a JobTemplate",
    ("kueue.x-k8s.io", "Workload"): "says what Kueue counts of another object",
    ("monitoring.coreos.com", "Alertmanager"): "fields of the pods that its operator makes",
    ("monitoring.coreos.com", "Prometheus"): "fields of the pods that its operator makes",
    ("monitoring.coreos.com", "PrometheusAgent"): "fields of the pods that its operator makes",
    ("monitoring.coreos.com", "ThanosRuler"): "fields of the pods that its operator makes",
    ("trainer.kubeflow.org", "TrainJob"): "patches the templates of its runtime",
}
"""Kinds with what looks like a pod template, and why no pod is made of that alone."""


def test_no_kind_is_forgotten(known: Catalog) -> None:
    """Every pod template of every kind that there is a schema of stands in the table."""
    for (group, name), versions in known.kinds.items():
        row = carrier(group, name)
        stated = {template.pattern for template in row.templates} if row is not None else set()
        for kind in versions.values():
            found = set(templates_in(kind.schema))
            assert found <= stated or (group, name) in OTHERS, f"{name} of {group}: {found - stated}"


def claims_in(node: dict[str, Any], deepest: int = DEEPEST) -> Iterator[str]:
    """Yield the fields of a schema that hold templates of claims, outside of pods; some schemas never end."""
    fields = node.get("properties", {})
    if "items" in fields.get("spec", {}).get("properties", {}).get("containers", {}) or not deepest:
        return
    for key, item in {**fields, "*": node.get("items") or node.get("additionalProperties")}.items():
        if key in ("volumeClaim", "volumeClaimTemplates", "volumeClaimPolicies"):
            yield key
        elif isinstance(item, dict) and key != "status":
            yield from claims_in(item, deepest - 1)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_kind_with_claims_says_what_becomes_of_them(row: Carrier, known: Catalog) -> None:
    """Where the schema has templates of claims, the row says when they go with the object, or why it does not say."""
    found = {claim for kind in known.kinds[row.group, row.kind].values() for claim in claims_in(kind.schema)}
    if found:
        assert row.loses is not None or "claims" in row.unread
    else:
        assert row.loses is None


def test_what_kueue_suspends_can_be_suspended() -> None:
    """Every kind that Kueue's webhook suspends has a field for it."""
    for (group, kind), entries in DEFAULTS.items():
        if ("kueue", "kueue.suspend:default") in entries:
            row = carrier(group, kind)
            assert row is not None
            assert row.suspend is not None, kind


def replica(count: int | None = None) -> dict[str, Any]:
    """Return one role of one of Kubeflow's jobs."""
    return {"template": {"spec": {}}, **({} if count is None else {"replicas": count})}


def of_kubeflow(kind: str, field: str, **roles: dict[str, Any]) -> dict[str, Any]:
    """Return one of Kubeflow's jobs."""
    return {"apiVersion": "kubeflow.org/v1", "kind": kind, "spec": {field: roles}}


def job(**spec: Any) -> dict[str, Any]:
    """Return a Job."""
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {}, **spec}}


def group_of_lws(**template: Any) -> dict[str, Any]:
    """Return a LeaderWorkerSet."""
    spec = {"leaderWorkerTemplate": {"workerTemplate": {}, **template}}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "spec": spec}


RAY_SPEC = {
    "headGroupSpec": {"template": {}},
    "workerGroupSpecs": [
        {"groupName": "GPU", "replicas": 2, "numOfHosts": 3, "template": {}},
        {"groupName": "cpu", "template": {}},
    ],
}
RAY_JOB = {
    "apiVersion": "ray.io/v1",
    "kind": "RayJob",
    "spec": {"rayClusterSpec": RAY_SPEC, "submitterPodTemplate": {}},
}
POD_SETS: dict[str, tuple[dict[str, Any], list[tuple[str, int]]]] = {
    "parallelism alone": (job(parallelism=4), [("main", 4)]),
    "completions alone, of which one runs at a time": (job(completions=4), [("main", 1)]),
    "more at once than there are to do": (job(parallelism=4, completions=3), [("main", 3)]),
    "a number with a point, as YAML may have it": (job(parallelism=4.0), [("main", 4)]),
    "roles in Kueue's order": (
        of_kubeflow("TFJob", "tfReplicaSpecs", Evaluator=replica(), Worker=replica(2), PS=replica(3), Chief=replica(1)),
        [("chief", 1), ("ps", 3), ("worker", 2), ("evaluator", 1)],
    ),
    "a role that Kueue does not know, last": (
        of_kubeflow("PyTorchJob", "pytorchReplicaSpecs", Watcher=replica(5), Worker=replica(2)),
        [("worker", 2), ("watcher", 5)],
    ),
    "a leader with pods of its own": (group_of_lws(size=4, leaderTemplate={}), [("leader", 1), ("worker", 3)]),
    "no leader": (group_of_lws(size=4), [("main", 4)]),
    "a RayJob": (RAY_JOB, [("head", 1), ("gpu", 6), ("cpu", 0), ("submitter", 1)]),
    "a template that is none": (job(template="none"), []),
}


@pytest.mark.parametrize(("value", "expected"), POD_SETS.values(), ids=POD_SETS)
def test_pod_sets_are_kueues(value: dict[str, Any], expected: list[tuple[str, int]]) -> None:
    """Pod sets have Kueue's names, counts and order, and roles that it passes over stand at the end."""
    row = carrier_of(value)
    assert row is not None
    found = row.pod_sets(value)
    assert [(item.name, item.count) for item in found] == expected
    assert [item.name for item in found if not item.counted] == [name for name, _ in expected if name == "watcher"]


def test_an_object_of_another_kind_has_no_row() -> None:
    """What pods are not made of is no carrier, and an object that says no kind is none."""
    assert carrier_of({"apiVersion": "v1", "kind": "ConfigMap"}) is None
    assert carrier_of({"kind": ["Job"]}) is None


FIELDS = re.compile(
    r"\w+ReplicaSpecs|replicatedJobs|workerGroupSpecs|headGroupSpec|rayCluster(Spec|Config)|submitterPodTemplate"
    r"|leaderWorkerTemplate|leaderTemplate|workerTemplate|jobTargetRef"
)
"""Fields below which custom resources carry pods."""
MAY = {
    "upstream/workloads": "the rows themselves",
    "render/kinds": "write these fields: an object of ours begins there",
    "faces/local/controllers": "what each controller makes of its own fields",
    "faces/local/lives": "when each controller makes pods anew, by its own fields",
    "upstream/apiserver/webhooks/jobset.py": "rules about a JobSet's jobs",
    "upstream/apiserver/webhooks/kuberay.py": "rules about the groups of a Ray cluster",
    "upstream/apiserver/webhooks/kueue/ray.py": "rules about a queued cluster's groups",
    "upstream/apiserver/webhooks/kueue/serving.py": "what a queued LeaderWorkerSet may not change",
    "upstream/apiserver/webhooks/kueue/suspend.py": "what Kueue adds to an MPIJob's launcher",
    "upstream/apiserver/webhooks/lws.py": "rules about the template of a LeaderWorkerSet",
    "upstream/apiserver/webhooks/mpi_operator.py": "rules about an MPIJob's launcher and workers",
    "upstream/apiserver/webhooks/raydeletion.py": "rules about a RayJob's cluster",
    "upstream/apiserver/webhooks/raygated.py": "rules about options of a Ray cluster that need a gate",
    "upstream/apiserver/webhooks/rayoptions.py": "rules about the options of a Ray cluster",
    "upstream/apiserver/webhooks/rewritten.py": "names of Go's fields, wherever they stand",
    "upstream/apiserver/webhooks/trainer.py": "a runtime's jobs put together with a TrainJob's patches",
    "upstream/kueue/requests/jobs": "what Kueue makes otherwise of some fields than they are written",
    "render/tenancy": "what each field of a run's objects may be",
}
"""Modules and folders that name such a field, and why they are no second table."""


def test_where_kinds_carry_pods_is_stated_once() -> None:
    """No module beside the table names the fields that lead to pod templates, but for those that are about them."""
    used = set()
    for name, module in package().items():
        named = sorted({text for text in module.texts if FIELDS.search(text)})
        allowed = {item for item in MAY if name == item or name.startswith(f"{item}/")}
        assert allowed or not named, f"{name} names {named}; read where pods are from trainyard.upstream.workloads"
        used |= allowed if named else set()
    assert used == set(MAY), "an exception that nothing needs"
