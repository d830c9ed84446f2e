"""Objects and what identifies them, in files that hold anything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.base.documents import Document, load
from trainyard.base.findings import ObjectRef
from trainyard.base.manifests import GroupVersionKind, Manifest, expand

JOB = b"""\
apiVersion: batch/v1
kind: Job
metadata:
  name: x
  namespace: nlp
  labels: {a: b, n: 1}
  annotations:
    note: text
spec:
  template:
    spec:
      containers:
      - image: z
"""


def objects(text: str | bytes) -> tuple[list[Manifest], list[str]]:
    """Objects of a file, and findings as `line:column rule: message`."""
    documents, decode = load(text.encode() if isinstance(text, str) else text, file="x.yaml")
    manifests, findings = expand(documents)
    return manifests, [
        f"{finding.location.line}:{finding.location.column} {finding.rule}: {finding.message}"
        for finding in [*decode, *findings]
    ]


def test_an_object_knows_what_it_is() -> None:
    """Identity, labels and fields come from the value, places from the text."""
    (job,), findings = objects(JOB)
    assert not findings
    assert (job.api_version, job.kind, job.group, job.version) == ("batch/v1", "Job", "batch", "v1")
    assert job.gvk == GroupVersionKind("batch", "v1", "Job")
    assert job.ref == ObjectRef("batch/v1", "Job", "nlp", "x")
    assert (job.labels, job.annotations, job.file) == ({"a": "b"}, {"note": "text"}, "x.yaml")
    assert job.get("spec", "template", "spec", "containers", 0, "image") == "z"
    assert str(job.location(("spec", "template", "spec", "containers", 0, "image"))) == "x.yaml:13:16"
    assert str(job.location(("metadata", "name"), key=True)) == "x.yaml:4:3"


def test_the_core_group_is_empty() -> None:
    """`v1` is a version of no group."""
    (pod,), _ = objects("apiVersion: v1\nkind: Pod\n")
    assert (pod.group, pod.version, pod.namespace, pod.name) == ("", "v1", None, "")


@pytest.mark.parametrize(
    "path",
    [("spec", "nothing"), ("spec", 0), ("metadata", "name", "x"), ("spec", "template", "spec", "containers", 9), (-1,)],
)
def test_a_missing_field_is_the_default(path: tuple[str | int, ...]) -> None:
    """No path raises, whatever stands on its way; indices do not count from the end."""
    (job,), _ = objects(JOB)
    assert job.get(*path) is None
    assert job.get(*path, default=3) == 3


def test_a_null_field_is_null() -> None:
    """A field that is written as null is there."""
    (pod,), _ = objects("apiVersion: v1\nkind: Pod\nspec: null\n")
    assert pod.get("spec", default=3) is None
    assert pod.get("spec", "containers", default=3) == 3


QUEUE = b"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
spec:
  cohortName: null
  resourceGroups:
  - flavors: [{name: h100, resources: [{nominalQuota: 8}]}, {name: 5}, null, text]
  - {}
  - flavors: {a: {name: a100}}
  stopPolicy: None
"""
FLAVORS = ("spec", "resourceGroups", "*", "flavors", "*")
WALKS = {
    "items of lists and values of maps, whatever they are": (
        FLAVORS,
        None,
        [
            (0, "flavors", 0, {"name": "h100", "resources": [{"nominalQuota": 8}]}),
            (0, "flavors", 1, {"name": 5}),
            (0, "flavors", 3, "text"),
            (2, "flavors", "a", {"name": "a100"}),
        ],
    ),
    "texts alone": (
        (*FLAVORS, "name"),
        str,
        [(0, "flavors", 0, "name", "h100"), (2, "flavors", "a", "name", "a100")],
    ),
    "whole numbers alone": ((*FLAVORS, "name"), int, [(0, "flavors", 1, "name", 5)]),
    "an item by its index": ((*FLAVORS[:2], 0, "flavors", 0, "name"), None, [(0, "flavors", 0, "name", "h100")]),
    "an index that is none": ((*FLAVORS[:2], -1), None, []),
    "a field of a text": (("spec", "stopPolicy", "x"), None, []),
    "what is null": (("spec", "cohortName"), None, []),
}


@pytest.mark.parametrize(("pattern", "of", "right"), WALKS.values(), ids=WALKS)
def test_a_walk_yields_what_is_there(pattern: tuple[str | int, ...], of: Any, right: list[tuple[Any, ...]]) -> None:
    """A pattern leads to everything that it fits, with its path; what is malformed or null is passed over."""
    (queue,), _ = objects(QUEUE)
    found = queue.at(*pattern) if of is None else queue.at(*pattern, of=of)
    assert [(*path[2:], value) for path, value in found] == right
    assert all(queue.get(*path) == value for path, value in queue.at(*pattern))


LIST = """\
apiVersion: v1
kind: List
metadata: {resourceVersion: ""}
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: a
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: b}}
"""


def test_items_of_a_list_are_objects_of_their_own() -> None:
    """Their fields are found where they are written in the list."""
    (pod, deployment), findings = objects(LIST)
    assert not findings
    assert [str(item.ref) for item in (pod, deployment)] == ["Pod a", "Deployment b"]
    assert pod.base == ("items", 0)
    assert str(pod.location(("metadata", "name"))) == "x.yaml:8:11"
    assert str(deployment.location(("metadata", "name"))) == "x.yaml:9:60"


def test_items_of_a_typed_list_take_their_type_from_it() -> None:
    """A PodList's items are Pods; an item that says half of its type must say all of it."""
    pods, findings = objects("apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n- kind: Pod\n")
    assert [(pod.api_version, pod.kind, pod.name) for pod in pods] == [("v1", "Pod", "a")]
    assert findings == ["5:3 decode/apiversion: apiVersion is missing; every object needs apiVersion and kind"]


def test_an_empty_list_has_no_objects() -> None:
    """Null and [] are both lists without items."""
    for items in ("[]", "null"):
        assert objects(f"apiVersion: v1\nkind: List\nitems: {items}\n") == ([], [])


WRONG = {
    "a text": (
        "just text\n",
        "1:1 decode/not-an-object: document is a string; write an object with apiVersion and kind",
    ),
    "a number": ("5\n", "1:1 decode/not-an-object: document is a number; write an object with apiVersion and kind"),
    "a list": ("- a\n", "1:1 decode/not-an-object: document is a list; write an object with apiVersion and kind"),
    "objects in a list": (
        "- {apiVersion: v1, kind: Pod}\n- {apiVersion: v1, kind: Service}\n",
        "1:1 decode/not-an-object: document is a list of objects; put '---' between them, or make them items of a List",
    ),
    "a directive": (
        "%YAML 1.2\n---\n",
        "1:1 decode/directive: kubectl reads a line that begins with '%' as a separate document; remove it",
    ),
    "a directive behind an object": (
        "---\n# a comment\n---\n# more\n%TAG ! x:\n---\n",
        "5:1 decode/directive: kubectl reads a line that begins with '%' as a separate document; remove it",
    ),
    "a List without items": (
        "apiVersion: v1\nkind: List\nmetadata: {}\n",
        "2:7 decode/items: a List without items; write the objects as its items",
    ),
    "a List whose items are misspelt": (
        "apiVersion: v1\nkind: List\nitem: []\n",
        "2:7 decode/items: a List without items; 'item' must be 'items'",
    ),
    "no apiVersion": (
        "kind: Pod\n",
        "1:1 decode/apiversion: apiVersion is missing; every object needs apiVersion and kind",
    ),
    "no kind": ("apiVersion: v1\n", "1:1 decode/kind: kind is missing; every object needs apiVersion and kind"),
    "an empty kind": (
        "apiVersion: v1\nkind: ''\n",
        "2:7 decode/kind: kind is missing; every object needs apiVersion and kind",
    ),
    "a kind that is a number": ("apiVersion: v1\nkind: 5\n", "2:7 decode/kind: kind is a number; write a string"),
    "a kind that is false": ("apiVersion: v1\nkind: no\n", "2:7 decode/kind: kind is a boolean; write a string"),
    "a version that is a number": (
        "apiVersion: 1\nkind: Pod\n",
        "1:13 decode/apiversion: apiVersion is a number; write a string",
    ),
    "the wrong case": (
        "apiversion: v1\nkind: Pod\n",
        "1:1 decode/apiversion: apiVersion is missing, but 'apiversion' exists; keys are case-sensitive",
    ),
    "items that are no list": (
        "apiVersion: v1\nkind: List\nitems: {a: 1}\n",
        "3:8 decode/items: items is a map; write a list of objects",
    ),
    "an item that is no object": (
        "apiVersion: v1\nkind: List\nitems:\n- 5\n",
        "4:3 decode/not-an-object: item 0 is a number; write an object with apiVersion and kind",
    ),
    "a list in a list": (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: PodList\n  items: []\n",
        "5:9 decode/nested-list: a PodList is inside a list; write its items out",
    ),
}


@pytest.mark.parametrize(("text", "report"), WRONG.values(), ids=WRONG)
def test_what_is_no_object_is_a_finding(text: str, report: str) -> None:
    """Each says what stands there, and where."""
    manifests, findings = objects(text)
    assert (manifests, findings) == ([], [report])


def test_one_wrong_item_leaves_the_others() -> None:
    """The other objects of a file are still judged."""
    manifests, findings = objects(
        "apiVersion: v1\nkind: Pod\n---\nkind: Pod\n---\n[]\n---\napiVersion: v1\nkind: Service\n"
    )
    assert [manifest.kind for manifest in manifests] == ["Pod", "Service"]
    assert len(findings) == 2


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=8,
)
FIELDS = ("apiVersion", "kind", "metadata", "items", "name", "namespace", "labels", "annotations")


@given(
    st.dictionaries(
        st.sampled_from(FIELDS), st.one_of(JSON, st.dictionaries(st.sampled_from(FIELDS), JSON)), max_size=6
    )
)
def test_no_shape_raises(value: dict[str, Any]) -> None:
    """Metadata may be a list and the name a number: properties answer, and expansion finds."""
    document = Document("x.yaml", 0, value)
    manifests, _ = expand([document])
    for manifest in [*manifests, Manifest(document, value)]:
        assert isinstance(manifest.name, str)
        assert manifest.namespace is None or manifest.namespace
        assert manifest.kind in str(manifest.ref)
        assert all(isinstance(text, str) for text in (*manifest.labels.values(), *manifest.annotations.values()))
        assert manifest.location(("metadata", "name")).file == "x.yaml"
        assert all(manifest.get(*path) is item for path, item in manifest.at("metadata", "*", "*"))
