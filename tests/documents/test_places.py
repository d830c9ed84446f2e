"""Where fields are written, and how their paths are spelled."""

from __future__ import annotations

import pytest

from trainyard.base.documents import Document, Path, format_path, load
from trainyard.base.documents.positions import tree_of

TEXT = """\
# a stream
apiVersion: v1
---
base: &base
  image: x
  tags: [a, "b"]
jobs:
- name: é
  spec: {<<: *base, extra: 1}
- *base
-   name: c   # c
    text: |
      one
"on": yes
list:
  - - deep
5: number
"""

PLACES: dict[str, tuple[Path, str, str]] = {
    "the root": ((), "4:1", "4:1"),
    "a value on the next line": (("base",), "4:7", "4:1"),
    "a scalar": (("base", "image"), "5:10", "5:3"),
    "an item of a flow list": (("base", "tags", 1), "6:13", "6:13"),
    "an item of a block list": (("jobs", 0), "8:3", "8:3"),
    "behind a character of two bytes": (("jobs", 0, "name"), "8:9", "8:3"),
    "a merged field, where it is written": (("jobs", 0, "spec", "image"), "5:10", "5:3"),
    "an own field beside merged ones": (("jobs", 0, "spec", "extra"), "9:28", "9:21"),
    "an aliased value, where it stands": (("jobs", 1), "10:3", "10:3"),
    "inside an aliased value": (("jobs", 1, "tags", 0), "6:10", "6:10"),
    "after wide dashes": (("jobs", 2, "name"), "11:11", "11:5"),
    "a block text": (("jobs", 2, "text"), "12:11", "12:5"),
    "a key that is quoted": (("on",), "14:7", "14:1"),
    "a list in a list": (("list", 0, 0), "16:7", "16:7"),
    "a key that is a number": (("5",), "17:4", "17:1"),
    "a missing key, at its map": (("jobs", 0, "spec", "nothing", "more"), "9:9", "9:3"),
    "a missing item, at its list": (("base", "tags", 7), "6:9", "6:3"),
    "an index into a map": (("base", 0), "4:7", "4:1"),
    "a key into a list": (("base", "tags", "x"), "6:9", "6:3"),
    "below a scalar": (("base", "image", "x", 1), "5:10", "5:3"),
}


@pytest.mark.parametrize(("path", "value", "key"), PLACES.values(), ids=PLACES)
def test_every_field_has_a_place(path: Path, value: str, key: str) -> None:
    """A path leads to the line and column of its value or key, or to the nearest ancestor that exists."""
    document = load(TEXT.encode(), file="x.yaml")[0][1]
    assert str(document.location(path)) == f"x.yaml:{value}"
    assert str(document.location(path, key=True)) == f"x.yaml:{key}"
    assert document.location(path).document == 1


JSON = '{"a": 1}\n  {"b": "\\ud83d\\ude00\\/", "c": [1,\n2]}'

JSON_PLACES: dict[str, tuple[int, Path, str]] = {
    "in the first object": (0, ("a",), "1:7"),
    "the second object": (1, (), "2:3"),
    "after surrogates and an escaped slash": (1, ("c",), "2:32"),
    "on a later line": (1, ("c", 1), "3:1"),
}


@pytest.mark.parametrize(("index", "path", "place"), JSON_PLACES.values(), ids=JSON_PLACES)
def test_json_has_places_too(index: int, path: Path, place: str) -> None:
    """Objects that follow one another know their own places, whatever YAML thinks of their escapes."""
    documents, _ = load(JSON.encode(), file="x.json")
    assert str(documents[index].location(path)) == f"x.json:{place}"


ROOTS = {
    "a map": "a: 1\n",
    "behind comments and blanks": "\n# c\n  # d\n\n  a: 1\n",
    "behind a separator": "---\n# c\na: 1\n",
    "behind a byte order mark": "\ufeffa: 1\n",
    "an anchor": "&x\na: 1\n",
    "a flow": "  {a: 1}\n",
    "a list": "- a\n",
}


@pytest.mark.parametrize("text", ROOTS.values(), ids=ROOTS)
def test_the_root_is_found_without_parsing(text: str) -> None:
    """The place of a document's first value is where a parser puts it."""
    (document,), _ = load(text.encode(), file="x.yaml")
    root = tree_of(document.text or b"")
    assert root is not None
    assert str(document.location()) == f"x.yaml:{root.line}:{root.column}"


def test_a_key_twice_is_where_it_counts() -> None:
    """Of a key written twice the last has the value, and so the place."""
    documents, _ = load(b"a: 1\nb: 2\na: 3\n", file="x.yaml")
    assert documents[0].location(("a",)).line == 3


def test_a_document_without_text_knows_its_file() -> None:
    """A value made in memory has a file and an index, and no line."""
    document = Document("x.yaml", 2, {"a": 1})
    assert str(document.location(("a",))) == "x.yaml"
    assert document.location(("a",)).document == 2


def test_text_can_be_given_later() -> None:
    """A value made in memory has places once its text is known."""
    document = Document("x.yaml", 0, {"a": 1}, b"a:\n  1\n", 5)
    assert str(document.location(("a",))) == "x.yaml:6:3"


PATHS: dict[str, tuple[Path, str]] = {
    "nothing": ((), ""),
    "fields and indices": (("spec", "containers", 0, "image"), "spec.containers[0].image"),
    "a key with dots": (("limits", "nvidia.com/gpu"), 'limits["nvidia.com/gpu"]'),
    "a key with quotes": (("a", 'b"c\\d'), 'a["b\\"c\\\\d"]'),
    "a dash inside": (("x-kubernetes-validations", 1), "x-kubernetes-validations[1]"),
    "an index first": ((0, "a"), "[0].a"),
    "an empty key": (("a", ""), 'a[""]'),
}


@pytest.mark.parametrize(("path", "text"), PATHS.values(), ids=PATHS)
def test_paths_are_spelled_as_in_kubernetes(path: Path, text: str) -> None:
    """Plain keys follow a dot, others stand in brackets."""
    assert format_path(path) == text
