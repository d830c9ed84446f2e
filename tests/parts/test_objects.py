"""Objects are values: whole, canonical, and told apart by what Kubernetes tells them apart by."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.base.manifests import Identity, identity_of
from trainyard.render.parts.objects import Resource, canonical


def made(**fields: Any) -> dict[str, Any]:
    """Return the object of a resource called `one`."""
    return Resource("v1", "Thing", "one", (), "nlp", **fields).value()


def test_an_object_has_what_the_resource_says():
    """Name, namespace and fields stand as they are given; where it comes from is no part of it."""
    job = Resource("batch/v1", "Job", "train-abc", ("nodes",), "nlp", fields={"spec": {"completions": 2}}, source="job")
    assert job.value() == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train-abc", "namespace": "nlp"},
        "spec": {"completions": 2},
    }
    assert job.identity == identity_of(job.value()) == Identity("batch", "Job", "nlp", "train-abc")


def test_labels_are_sorted_and_what_is_none_is_left_out():
    """The same labels give the same bytes in whatever order they came, and None is no field, at any depth."""
    value = made(
        labels={"b": "1", "a": "2"}, annotations={}, fields={"spec": {"none": None, "deep": [{"x": None}, None]}}
    )
    assert list(value["metadata"]["labels"]) == ["a", "b"]
    assert "annotations" not in value["metadata"]
    assert value["spec"] == {"deep": [{}]}


AMOUNTS = {
    "limits": ({"limits": {"cpu": 4, "memory": "1024Mi"}}, {"limits": {"cpu": "4", "memory": "1Gi"}}),
    "requests in a list": ([{"requests": {"cpu": "1000m"}}], [{"requests": {"cpu": "1"}}]),
    "a size limit": ({"sizeLimit": "2048Ki"}, {"sizeLimit": "2Mi"}),
    "a nominal quota": ({"nominalQuota": 8}, {"nominalQuota": "8"}),
    "a field that is no quantity": ({"replicas": 4, "name": "1000m"}, {"replicas": 4, "name": "1000m"}),
    "text that is no quantity": ({"limits": {"cpu": "many"}}, {"limits": {"cpu": "many"}}),
    "an empty selector, which matches all": ({"namespaceSelector": {}}, {"namespaceSelector": {}}),
}


@pytest.mark.parametrize(("given", "expected"), AMOUNTS.values(), ids=AMOUNTS)
def test_quantities_are_canonical_text(given, expected):
    """Where Kubernetes reads quantities they are text in canonical form; everything else stays as it is."""
    assert made(fields={"spec": {"at": given}})["spec"]["at"] == expected
    assert canonical({"at": given}) == {"at": expected}
