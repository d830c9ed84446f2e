"""Every pitfall of Argo CD has tests that exist, and the page on Argo CD shows them."""

from __future__ import annotations

import ast
import re

import pytest
import yaml

from conftest import ROOT

ROWS = yaml.load((ROOT / "tests/pitfalls.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader)
TEST = re.compile(r"(tests/[\w/]+\.py)::(test_\w+)(?:\[([\w-]+)\])?")
HOW = {"impossible", "caught", "seen"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["pitfall"])
def test_a_pitfall_has_tests(row):
    """Its tests are functions that pytest finds, and a policy's case is a file."""
    assert row.keys() == {"pitfall", "how", "answer", "source", "tests"}
    assert row["how"] in HOW
    assert row["tests"]
    for name in row["tests"]:
        found = TEST.fullmatch(name)
        assert found, name
        file, function, case = found.groups()
        functions = {node.name for node in ast.parse((ROOT / file).read_text("utf-8")).body if hasattr(node, "name")}
        assert function in functions, name
        assert case is None or (ROOT / f"tests/policies/{case}.yaml").exists(), name


def test_what_is_caught_is_found_where_a_person_wrote_it():
    """Where a person can still write it, a test beside those of rendering shows the finding."""
    finding = re.compile(r"tests/(checks|preflight|synth|tree|clusters/test_argocd)")
    assert not [row["pitfall"] for row in ROWS if row["how"] == "caught" and not any(map(finding.match, row["tests"]))]


def test_every_pitfall_is_there_once():
    """The table has no row twice."""
    names = [row["pitfall"] for row in ROWS]
    assert len(names) == len(set(names)) > 40
