"""Mistakes that people make are told by the right rule, at the line and column; what is right is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mistake_cases import GROUPS, Slip, astray, found, places, slips, told


def cases() -> Iterator[object]:
    """Yield every mistake; those that only rendered objects show need Node."""
    for group in GROUPS:
        for slip in slips(group):
            marks = [pytest.mark.node] if slip.rendered else []
            yield pytest.param(slip, id=f"{slip.file}: {slip.name}", marks=marks)


@pytest.mark.parametrize("slip", list(cases()))
def test_a_mistake_is_told_where_it_is(slip: Slip, tmp_path: Path) -> None:
    """Each has a finding of its rule at its mark; of those that are known to be missed nothing is said.

    No finding is in a file that nobody edits.
    """
    findings = found(slip, tmp_path / "repository")
    assert astray(slip, findings) == []
    said = [f"{finding.rule} at {places(finding)}: {finding.message}" for finding in findings]
    if slip.says == "fine":
        assert [finding for finding in findings if finding.rule not in slip.also] == []
    elif slip.known:
        assert findings == [], f"it is told now; remove `known`: {said}"
    else:
        assert told(slip, findings), said


def test_the_list_is_long_and_names_are_told_apart() -> None:
    """There are more than two hundred mistakes, each with a name of its own in its file."""
    listed = [(slip.file, slip.name) for group in GROUPS for slip in slips(group)]
    assert len(set(listed)) == len(listed) > 200
