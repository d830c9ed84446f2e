"""What is said of a lost node is what a real cluster did: Kubernetes, Kueue and the operators of every kind."""

from __future__ import annotations

import pytest

from conftest import ROOT
from lost.cases import FAULTS, KINDS, Case, cases
from lost.summary import FAILS, STAYS, recorded, table, tell
from trainyard.render.kinds import kinds
from trainyard.render.kinds.behaviour import MOVES
from trainyard.render.kinds.lost_node import FORCED, SILENT

PAGE = ROOT / "docs" / "lost-nodes.md"
SLOW = 60
"""Seconds that a look of a busy machine may come late."""


@pytest.fixture(scope="module")
def stories():
    """Return what was seen of every case."""
    return recorded()


def test_every_case_was_asked(stories):
    """No case is left out, and each of them came to an end."""
    assert {case.name for case in cases()} == stories.keys()
    assert all(one.repaired for one in stories.values())


def test_the_page_has_the_table():
    """The table is made of the record; with another record, write it anew."""
    assert table() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_who_leaves_a_faulty_node(kind, stories):
    """A run leaves a node with a fault by itself where `explain` says so, and nowhere else."""
    name = kind.partition(",")[0]
    case = Case(kind, "no-schedule", 1)
    moved = tell(case, stories[case.name]) != STAYS
    assert not stories[case.name].failed
    assert moved == (kinds()[name].behaviour.faulty == MOVES)


@pytest.mark.parametrize("kind", KINDS)
def test_a_silent_node(kind, stories):
    """Its pods go after the times that `explain` adds up, and without a person."""
    found = stories[Case(kind, "silent", 1).name]
    assert not found.stuck
    assert SILENT - SLOW < found.ended <= SILENT + 31 + FORCED + SLOW
    assert found.failed or found.running < found.repaired


@pytest.mark.parametrize("kind", KINDS)
def test_who_fails_for_good(kind, stories):
    """A deleted pod ends a run where its kind says so: with a spare node too, since Kueue does not queue it again."""
    told = {case.fault: tell(case, stories[case.name]) for case in cases() if (case.kind, case.spares) == (kind, 1)}
    mortal = bool(kinds()[kind.partition(",")[0]].mortal)
    assert {fault for fault in ("silent", "shut-down", "deleted", "drained") if told[fault] == FAILS} == (
        {"silent", "shut-down", "deleted", "drained"} if mortal else set()
    )


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "no-schedule"])
def test_a_spare_takes_the_place(fault, stories):
    """With a spare node no run waits for the repair, whatever its kind and whatever happened."""
    found = {kind: one for kind in KINDS if not (one := stories[Case(kind, fault, 1).name]).failed}
    assert [kind for kind, one in found.items() if one.running is None or one.running > one.repaired] == []


def test_what_a_fault_counts(stories):
    """Only a program that failed uses up a restart: what Kubernetes, Kueue or a person ends does not."""
    counted = {case.fault for case in cases() if stories[case.name].counted}
    assert counted == {"no-schedule"}
