"""Places of numbers behind line breaks that only YAML knows."""

from __future__ import annotations

from trainyard.documents import load
from trainyard.specs.reading import numbers


def test_lines_that_only_yaml_ends_are_no_fault_of_ours() -> None:
    """A next-line character counts as a line to YAML, so that a number's line may lie behind the file's last."""
    documents, _ = load('a: "x\x85y\x85z"\nb: 010\n'.encode(), file="x.yaml")
    assert documents
    assert len(list(numbers.check(documents[0]))) <= 1
