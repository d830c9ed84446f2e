"""Places of numbers behind line breaks that only YAML knows."""

from __future__ import annotations

import pytest

from trainyard.base.documents import load
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


LITTLE = {
    "1e-1000000000": 1,
    "-1.5E-400": 1,
    "0.000_1e-3_99": 1,
    f"0.{'0' * 330}1": 1,
    f".{'0' * 330}1e-5": 1,
    "0e-1000000000": 0,
    "0.0e-400": 0,
    "1e-300": 0,
    "1e-3": 0,
    "'1e-1000000000'": 0,
    f"0.{'0' * 330}": 0,
}


@pytest.mark.parametrize(("text", "count"), LITTLE.items(), ids=[item[:20] for item in LITTLE])
def test_no_number_becomes_zero_in_silence(text: str, count: int) -> None:
    """What is not zero and is read as zero is told where it stands, and nothing else is."""
    documents, _ = load(f"a: 1\nscratch: {text}\n".encode(), file="x.yaml")
    found = list(numbers.check(documents[0]))
    assert [(item.rule, item.location.line) for item in found] == [("spec/number", 2)] * count
    assert all(f"{text[:40]} is read as 0; write 0, or quote it" in item.message for item in found)
