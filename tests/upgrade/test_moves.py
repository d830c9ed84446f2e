"""Which operators get another release, in which order, and when none does."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, fields, make_cluster, make_source
from trainyard.change.upgrade.moves import Move, find_moves, in_order, together

OLD_JOBSET = {"version": "0.11.1", "unlisted": {"like": "0.12.0", "reason": "compared by hand"}}
OLD = {"trainer": {"version": "2.2.1"}, "jobset": OLD_JOBSET}
OLDEST_KUEUE = {"version": "0.16.9", "unlisted": {"like": "0.18.6", "reason": "compared by hand"}}


def moves(operator: str, version: str, **operators: Any) -> tuple[list[str], list[str]]:
    """Return the moves on a cluster with these operators too, and the findings, in words."""
    chosen = {"operators": {**CLUSTER["operators"], **{name.replace("_", "-"): how for name, how in operators.items()}}}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, chosen))
    found, wrong = find_moves(make_cluster(**chosen), "test", source, operator, version)
    words = [f"{move.operator} {move.before} {move.after}" for move in found]
    return words, [f"{item.rule} {item.path}: {item.message}" for item in wrong]


FOUND: dict[str, tuple[tuple[str, str], dict[str, Any], list[str]]] = {
    "one alone": (("kueue", "0.19.2"), {"kueue": {"version": "0.18.6"}}, ["kueue 0.18.6 0.19.2"]),
    "with a v, as a tag has it": (("kueue", "v0.19.2"), {"kueue": {"version": "0.18.6"}}, ["kueue 0.18.6 0.19.2"]),
    "JobSet goes ahead of Trainer": (("trainer", "2.3.0"), OLD, ["jobset 0.11.1 0.12.0", "trainer 2.2.1 2.3.0"]),
    "what was too old before is left": (
        ("kuberay", "1.7.0"),
        {**OLD, "trainer": {"version": "2.3.0"}, "kuberay": {"version": "1.6.2"}},
        ["kuberay 1.6.2 1.7.0"],
    ),
    "an older one": (("kueue", "0.18.6"), {}, ["kueue 0.19.2 0.18.6"]),
    "Argo CD, which is no operator": (("argo-cd", "3.4.4"), {}, ["argo-cd 3.5.1 3.4.4"]),
    "one that others install": (
        ("kuberay", "1.7.0"),
        {"kuberay": {"version": "1.6.2", "managed": False}},
        ["kuberay 1.6.2 1.7.0"],
    ),
    "the release that is there": (("kueue", "0.19.2"), {}, []),
}


@pytest.mark.parametrize(("asked", "there", "expected"), FOUND.values(), ids=FOUND)
def test_what_must_go_along_goes_first(asked, there, expected):
    """The moves come in the order in which each finds what it needs."""
    assert moves(*asked, **there) == (expected, [])


WRONG: dict[str, tuple[tuple[str, str], dict[str, Any], str]] = {
    "a release that nobody knows": (
        ("kueue", "0.20.0"),
        {},
        "pairing/unknown-release operators.kueue.version: kueue 0.20.0 is unknown; known releases: 0.19.2, 0.18.6",
    ),
    "no release at all": (
        ("kueue", "newest"),
        {},
        "pairing/unknown-release operators.kueue.version: kueue newest is unknown; known releases: 0.19.2, 0.18.6",
    ),
    "an operator that nobody knows": (
        ("kueu", "0.19.2"),
        {},
        "pairing/unknown-operator operators: operator 'kueu' does not exist in Trainyard; did you mean 'kueue'?",
    ),
    "an operator that is not there": (
        ("volcano", "1.15.1"),
        {},
        "pairing/not-there operators: cluster 'test' has no operator 'volcano'; there are: gpu-operator, jobset, kueue",
    ),
    "one that needs what others install": (
        ("trainer", "2.3.0"),
        {**OLD, "jobset": {**OLD_JOBSET, "managed": False}},
        (
            "pairing/upgrade-order operators.jobset.version: trainer 2.3.0 needs 0.12.0 or newer of jobset, which "
            "others install (managed: false)"
        ),
    ),
    "digests of other images": (
        ("kuberay", "1.7.0"),
        {"kuberay": {"version": "1.6.2", "digests": {"operator": "sha256:" + "0" * 64}}},
        (
            "pairing/old-digests operators.kuberay.digests: digests of kuberay are of images of 1.6.2, such as "
            "'operator'; remove them"
        ),
    ),
}


@pytest.mark.parametrize(("asked", "there", "expected"), WRONG.values(), ids=WRONG)
def test_an_upgrade_that_cannot_be_is_one_finding(asked, there, expected):
    """It names the value and what to write instead."""
    assert moves(*asked, **there)[1] == [expected]


def test_the_order_that_works_is_in_the_fix():
    """Whoever installs the other operator is named the commands, one after the other."""
    chosen = {"operators": {**CLUSTER["operators"], **OLD, "jobset": {**OLD_JOBSET, "managed": False}}}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, chosen))
    (finding,) = find_moves(make_cluster(**chosen), "test", source, "trainer", "2.3.0")[1]
    assert finding.fix == (
        "have jobset 0.12.0 installed, then run trainyard upgrade test jobset 0.12.0, "
        "then trainyard upgrade test trainer 2.3.0"
    )


def test_two_that_need_each_other_go_at_once():
    """Kueue 0.17 needs Trainer 2.2, and Trainer 2.2 needs Kueue 0.17: the one that is asked for comes last."""
    trainer = {"version": "2.1.0", "unlisted": {"like": "2.2.1", "reason": "compared by hand"}}
    words, wrong = moves("trainer", "2.3.0", kueue=OLDEST_KUEUE, trainer=trainer)
    assert (words, wrong) == (["kueue 0.16.9 0.18.6", "trainer 2.1.0 2.3.0"], [])
    cluster = make_cluster(operators={**CLUSTER["operators"], "kueue": OLDEST_KUEUE, "trainer": trainer})
    both = {"kueue": Move("kueue", "0.16.9", "0.18.6", why="x"), "trainer": Move("trainer", "2.1.0", "2.3.0")}
    assert together(cluster, both)
    assert not together(cluster, {"kueue": both["kueue"]})
    assert [move.operator for move in in_order(cluster, both)] == ["kueue", "trainer"]
