"""Pods that come together all find nodes, or some do not, or it depends."""

from __future__ import annotations

from collections import Counter

import pytest

from scheduler.compare import verdict
from scheduler.test_nodes import ZONES, make_nodes, near, wanted
from scheduler.tight import tight
from trainyard.upstream.scheduler import Choice
from trainyard.upstream.scheduler.together import LIKELY, Way, prospects, put, ways

LEADER, WORKER = wanted(1, app="leader"), wanted(8, app="worker")
SMALL, LARGE = wanted(2), wanted(8)
AFTER = wanted(1, **near("podAffinity", "zone", "leader"))


def free(*pods):
    """Pods without a node that was assigned to them."""
    return [(pod, None) for pod in pods]


CASES = {
    "pods that are alike have one outcome": (make_nodes("a", "a"), free(*[SMALL] * 9), {1}),
    "pods of two sizes do not": (make_nodes("a", "a", "a"), free(SMALL, SMALL, LARGE, LARGE), {0, 1}),
    "unless there is room for all in every order": (make_nodes("a", "a", "a", "a"), free(SMALL, SMALL, LARGE), {0}),
    "or for all in none": (make_nodes("a"), free(SMALL, LARGE), {1}),
    "what was assigned to nodes does not move": (make_nodes("a", "a"), [(SMALL, "n-0"), (LARGE, "n-1")], {0}),
    "pods wait for those that they must be near": (make_nodes("a", "b"), free(AFTER, LEADER), {0}),
    "and for ever where there are none": (make_nodes("a", "b"), free(AFTER, WORKER), {1}),
}


@pytest.mark.parametrize(("nodes", "pods", "missing"), CASES.values(), ids=CASES)
def test_what_may_come_of_pods(nodes, pods, missing):
    """So many of them may be without a node in the end; nodes are left as they were."""
    assert {len(prospect.missing) for prospect in prospects(nodes, pods)} == missing
    assert nodes.mark() == 0


def test_who_has_seen_enough_leaves_nodes_as_they_were():
    """Each outcome is taken back before it is told."""
    nodes = make_nodes("a", "a")
    assert next(prospects(nodes, free(SMALL, LARGE))).placed
    assert nodes.mark() == 0


def test_ways_are_few_where_it_does_not_matter():
    """Pods that share no nodes, or all have one assigned, are not tried in all orders."""
    nodes = make_nodes("a", "b")
    apart = [wanted(2, nodeSelector={"zone": "a"}), wanted(8, nodeSelector={"zone": "b"})]
    assert list(ways(nodes, free(*apart))) == [LIKELY]
    assert list(ways(nodes, [(SMALL, "n-0"), (LARGE, "n-1")])) == [LIKELY, Way(first="last")]
    assert list(ways(nodes, [(SMALL, "n-0"), (SMALL, "n-1")])) == [LIKELY]
    alike = [wanted(1, takes="address"), wanted(1, nodeSelector={"zone": "b"}, takes="address")]
    for pods in (free(SMALL, LARGE), free(*alike), [(SMALL, "n-0"), (LARGE, None)]):
        assert len(list(ways(nodes, pods))) == 1 + 3 + 90
    assert len(list(ways(nodes, free(AFTER, LEADER)))) == 1 + 2 * (3 + 90)
    assert len(list(ways(nodes, free(*[SMALL] * 400, LARGE)))) == 1 + 3 + 7


def test_pods_that_find_no_node_are_tried_again_when_others_do():
    """At once, or when all were tried: then the others have taken the place that they needed."""
    nodes, pods = make_nodes("a"), free(AFTER, LEADER, wanted(7))
    assert [number for number, _ in put(nodes, pods, Way()).missing] == [0]
    nodes.back(0)
    assert [number for number, _ in put(nodes, pods, Way(at_once=True)).missing] == [2]


def test_the_last_can_come_first_and_the_fullest_node():
    """In which order and where is the way's matter."""
    nodes, pods = make_nodes(*ZONES), free(SMALL, SMALL, LARGE)
    there = put(nodes, pods, Way(Choice(fullest=True)))
    assert Counter(placed.host for _, placed in there.placed) == {"n-0": 2, "n-1": 1}
    nodes.back(0)
    assert [number for number, _ in put(nodes, pods, Way(first="last")).placed] == [2, 1, 0]


def test_pods_that_want_nothing_more_are_not_asked_about_twice():
    """A hundred pods without a node are one question, asked again when one is placed that they wait for."""
    nodes = make_nodes("a", "b")
    asked = []
    place = nodes.place
    nodes.place = lambda *given: asked.append(given[0]) or place(*given)
    found = put(nodes, free(wanted(9), *[AFTER] * 100, LEADER))
    assert len(found.missing) == 1 + 100 - 7
    assert Counter(map(id, asked)).most_common(1)[0][1] < 12


def test_pods_that_come_first_and_wait_may_take_the_nodes_of_those_that_they_wait_for():
    """Tried again at once, three of one GPU fill a node of four, where one of two was to go: the scheduler did both."""
    assert verdict(tight(437)) == "may fit"
