"""Policies may say that no waiver takes their errors away."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT
from trainyard.base import catalogue
from trainyard.base.errors import PolicyError
from trainyard.judge.policies.policy import load_python

TEXT = '"""T.\n\nWhy: w.\nFix: f.\nSource: s.\n"""\n{}check = list\n'


@pytest.mark.parametrize(
    ("line", "waivable"), {"": True, "WAIVABLE = False\n": False, "WAIVABLE = True\n": True}.items()
)
def test_a_policy_in_python_says_so_by_a_name(tmp_path: Path, line: str, waivable: bool) -> None:
    """Whether it is read or run."""
    path = tmp_path / "own_policy.py"
    path.write_text(TEXT.format(line))
    assert catalogue.policy(path).waivable is waivable
    assert load_python(path).rule.waivable is waivable


def test_a_policy_in_cel_says_so_by_an_annotation(tmp_path: Path) -> None:
    """The one on digests does; a word that is neither is refused."""
    assert not catalogue.policy(ROOT / "policies/sec-digest.yaml").waivable
    assert catalogue.policy(ROOT / "policies/gpu-limits.yaml").waivable
    text = (ROOT / "policies/sec-digest.yaml").read_text("utf-8")
    path = tmp_path / "sec-digest.yaml"
    path.write_text(text.replace('waivable: "false"', "waivable: maybe"))
    with pytest.raises(PolicyError, match="must be 'true' or 'false'"):
        catalogue.policy(path)
