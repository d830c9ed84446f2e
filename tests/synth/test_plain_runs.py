"""What is looked at without Node is what Node would have written."""

from __future__ import annotations

import pytest

from conftest import ROOT
from trainyard.change.synth.render.plain_runs import is_spelled_alike, run_folder
from trainyard.judge.preflight import check_jobs
from trainyard.specs.load import read_repository

ALIKE = {
    "no object at all": {},
    "texts, truth and whole numbers": {"a": ["b", True, 2**53, -1], "é": "ü"},
}

NODES_ALONE = {
    "a fraction, which may be written in two ways": {"a": [{"b": 1.0}]},
    "a number that no double is": {"a": 2**53 + 1},
    "half a letter": {"a": "\ud800"},
    "a key that is half a letter": {"\udfff": "a"},
    "a value that is not there": {"a": None},
}


@pytest.mark.parametrize("value", ALIKE.values(), ids=ALIKE)
def test_a_value_that_node_leaves_as_it_is(value: object) -> None:
    """Texts, truth and whole numbers come back from Node as they went there."""
    assert is_spelled_alike(value) is True


@pytest.mark.parametrize("value", NODES_ALONE.values(), ids=NODES_ALONE)
def test_a_value_that_node_spells(value: object) -> None:
    """What Node may write otherwise is left to it."""
    assert is_spelled_alike(value) is False


def test_runs_are_as_synth_has_written_them() -> None:
    """Without Node every run of this repository is, byte for byte, the folder that synth wrote through cdk8s."""
    runs, _ = check_jobs(read_repository(ROOT))
    compared = 0
    for run in runs:
        folder = run_folder(run)
        assert folder is not None
        there = ROOT / "generated" / folder.cluster / folder.folder
        if there.is_dir():  # of retired jobs there is none
            assert {path.name: path.read_text("utf-8") for path in there.iterdir()} == folder.files
            compared += 1
    assert compared > len(runs) // 2
