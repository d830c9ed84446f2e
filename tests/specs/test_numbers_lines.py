"""Places of numbers behind line breaks that only YAML knows."""

from __future__ import annotations

from trainyard.documents import load
from trainyard.specs.reading import numbers


def test_lines_that_only_yaml_ends_are_no_fault_of_ours() -> None:
    """A next-line character counts as a line to YAML, so that a number's line may lie behind the file's last."""
    documents, _ = load('a: "x\x85y\x85z"\nb: 010\n'.encode(), file="x.yaml")
    assert documents
    assert len(list(numbers.check(documents[0]))) <= 1


def test_the_end_of_a_digest_is_no_number() -> None:
    """Of a file with digests alone no places are looked up, which takes longer than all else that is done with it."""
    assert numbers.ODD.search("image: a/b@sha256:44c801cb0350012\nargs: [x012, --seed=1012]\n") is None
    assert [found[0] for found in numbers.ODD.finditer('{"a":010, b: -0x1F, c: [012]}')] == ["010", "-0x1F", "012"]
