"""Writing YAML: quoted where any reader could err, the same bytes for the same value."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_counts import tries
from trainyard.base.documents import dump, load

VALUE = {
    "apiVersion": "batch/v1",
    "metadata": {"labels": {"nvidia.com/gpu": "true", "1": "one"}, "annotations": {}},
    "spec": {
        "args": ["--config", "/etc/llm/x.yaml", "-y", "$(RANK)", "a: b", "a #b", "8", "1e3", "16Gi", "100m"],
        "script": "set -e\n  indented\n\nend\n",
        "chomped": "a\nb",
        "kept": "a\nb\n\n\n",
        "suspend": True,
        "nothing": None,
        "ratio": 0.5,
        "large": 1e21,
        "empty": [],
        "nested": [[1, [2]], [{"a": 1, "b": [{"c": 2}]}], {}],
        "odd": ["", " x", "x ", "y", "No", "~", "null", "0o7", "12:30", "2001-01-01", "é", "tab\t", "-", "- x", "x:"],
    },
}

TEXT = """\
apiVersion: batch/v1
metadata:
  labels:
    nvidia.com/gpu: "true"
    "1": one
  annotations: {}
spec:
  args:
  - --config
  - /etc/llm/x.yaml
  - -y
  - $(RANK)
  - "a: b"
  - "a #b"
  - "8"
  - "1e3"
  - 16Gi
  - 100m
  script: |
    set -e
      indented

    end
  chomped: |-
    a
    b
  kept: |+
    a
    b


  suspend: true
  nothing: null
  ratio: 0.5
  large: 1.0e+21
  empty: []
  nested:
  - - 1
    - - 2
  - - a: 1
      b:
      - c: 2
  - {}
  odd:
  - ""
  - " x"
  - "x "
  - "y"
  - "No"
  - "~"
  - "null"
  - "0o7"
  - "12:30"
  - "2001-01-01"
  - "é"
  - "tab\\t"
  - "-"
  - "- x"
  - "x:"
"""


def test_canonical_text() -> None:
    """Lists stand at their key's indent, text of several lines in blocks, everything ambiguous in quotes."""
    assert dump(VALUE) == TEXT


def test_keys_are_sorted_only_when_asked() -> None:
    """Order is the caller's; sorting goes all the way down."""
    value = {"b": [{"d": 1, "c": 2}], "a": 1}
    assert dump(value) == "b:\n- d: 1\n  c: 2\na: 1\n"
    assert dump(value, sort_keys=True) == "a: 1\nb:\n- c: 2\n  d: 1\n"


ROOTS = {
    "a string": ("x", "x\n"),
    "a text": ("a\nb\n", '"a\\nb\\n"\n'),
    "an empty map": ({}, "{}\n"),
    "an empty list": ([], "[]\n"),
    "a list": ([1, [], [2]], "- 1\n- []\n- - 2\n"),
    "null": (None, "null\n"),
    "a whole float": (1.0, "1\n"),
    "a tiny float": (5e-324, "5.0e-324\n"),
}


@pytest.mark.parametrize(("value", "text"), ROOTS.values(), ids=ROOTS)
def test_any_value_can_be_the_root(value: Any, text: str) -> None:
    """A document need not be a map."""
    assert dump(value) == text


WRONG = {
    "infinity": (float("inf"), ValueError),
    "not a number": ({"a": [float("nan")]}, ValueError),
    "a key that is no string": ({1: 2}, TypeError),
    "bytes": ([b"x"], TypeError),
    "a set": ({"a": {1}}, TypeError),
}


@pytest.mark.parametrize(("value", "error"), WRONG.values(), ids=WRONG)
def test_what_json_does_not_know_is_an_error(value: Any, error: type[Exception]) -> None:
    """Nothing is turned into a string behind the caller's back."""
    with pytest.raises(error):
        dump(value)


AWKWARD = st.sampled_from(
    [
        *(
            "y",
            "no",
            "On",
            "~",
            "null",
            "=",
            "<<",
            "-",
            "--",
            "---",
            "...",
            "?",
            ":",
            "#",
            "&",
            "*",
            "!",
            "|",
            ">",
            "%",
        ),
        *(
            "@",
            "`",
            "{}",
            "[]",
            "0",
            "08",
            "0x1",
            "1_0",
            "1e3",
            ".5",
            "-.inf",
            "1:30",
            "2001-01-01",
            "1Gi",
            "-x",
            "'",
            '"',
        ),
        *("a: b", "a #b", " a", "a ", "a:", "- a", "a\nb", "a\nb\n", "a\n\nb\n\n", " a\nb", "a\n b\n", "\ta\nb", "\n"),
        *("a\tb\nc", "a\n ", "a\r\nb", "\x00", "\x7f", "\x85", "\u2028", "\ufeff", "\uffff", "😀", "\U0010ffff", "\\"),
        "x" * 600,
    ]
)
STRINGS = st.one_of(
    AWKWARD, st.text(st.characters(exclude_categories=["Cs"]), max_size=12), st.builds("{}{}".format, AWKWARD, AWKWARD)
)
SCALARS = st.one_of(
    STRINGS,
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(STRINGS, inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=tries(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
def test_what_is_written_is_read_back(value: Any) -> None:
    """Our reader and PyYAML, which follows YAML 1.1 by the letter, both get the value back."""
    text = dump(value)
    documents, findings = load(text.encode(), file="x.yaml")
    assert not findings or value is None
    assert [document.value for document in documents] == ([] if value is None else [value])
    assert yaml.safe_load(text) == value
    assert dump(value) == text


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(VALUES.filter(lambda value: value is not None), max_size=3))
def test_documents_stay_apart_in_a_stream(values: list[Any]) -> None:
    """Texts joined by separators are read as the same documents."""
    text = "".join(f"---\n{dump(value)}" for value in values)
    documents, _ = load(text.encode(), file="x.yaml")
    assert [document.value for document in documents] == values
