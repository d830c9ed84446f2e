"""Releases are ordered as numbers, and one that is not known is answered for by the nearest one that is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from trainyard.base.versions import nearest, order
from trainyard.specs.releases import release
from trainyard.upstream.apiserver import catalog

ORDER = {
    "ten comes after nine": ("1.9", "1.10"),
    "and so it does further on": ("0.19.2", "0.19.10"),
    "a patch comes after none": ("3.2", "3.2.1"),
    "the first number weighs most": ("1.99.99", "2.0.0"),
}

KUEUE = ["0.18.6", "0.19.2"]
NEAREST = {
    "the release itself": ("0.19.2", KUEUE, "0.19.2"),
    "another patch of a line": ("0.19.0", KUEUE, "0.19.2"),
    "a patch of the older line": ("0.18.99", KUEUE, "0.18.6"),
    "an older line": ("0.17.3", KUEUE, "0.18.6"),
    "a newer line": ("0.21.0", KUEUE, "0.19.2"),
    "the next major": ("1.0.0", KUEUE, "0.19.2"),
    "one beyond it": ("2.1", KUEUE, "0.19.2"),
    "far beyond all": ("9.9.9", KUEUE, "0.19.2"),
    "long before all": ("0.1", KUEUE, "0.18.6"),
    "a leading v": ("v0.18.6", KUEUE, "0.18.6"),
    "a build of a provider": ("1.35.4-gke.1", ["1.34", "1.35", "1.36"], "1.35"),
    "of two as near, the newer": ("2.0.0", ["1.0.0", "3.0.0"], "3.0.0"),
    "ten is nearer to eleven than to nine and a half": ("1.10", ["1.8.9", "1.11.0"], "1.11.0"),
}


@pytest.mark.parametrize(("older", "newer"), ORDER.values(), ids=ORDER)
def test_releases_are_ordered_as_numbers(older, newer):
    """Numbers are compared one by one, not as text."""
    assert order(older) < order(newer)


def test_a_suffix_does_not_count():
    """Nor does a leading v, nor a patch of zero."""
    assert order("v1.10-rc.1") == order("1.10.0") == order("1.10+build.3")


@pytest.mark.parametrize(("asked", "known", "found"), NEAREST.values(), ids=NEAREST)
def test_the_nearest_release(asked, known, found):
    """The least distance, the first number weighing most; beyond all known ones the last or the first."""
    assert nearest(asked, known) == nearest(asked, reversed(known)) == found


def test_nothing_is_near_where_nothing_is_known():
    """Who asks among no releases has made a mistake."""
    with pytest.raises(ValueError, match="empty"):
        nearest("1.0", [])


RELEASES = st.lists(st.integers(0, 30), min_size=1, max_size=3).map(lambda numbers: ".".join(map(str, numbers)))


@given(st.lists(RELEASES, min_size=1, unique_by=order), RELEASES)
def test_a_known_release_is_nearest_to_itself_and_limits_hold(known, asked):
    """What is newer than all takes the newest, what is older than all the oldest."""
    found = nearest(asked, known)
    assert found in known
    assert all(nearest(item, known) == item for item in known)
    if order(asked) >= max(map(order, known)):
        assert found == max(known, key=order)
    if order(asked) <= min(map(order, known)):
        assert found == min(known, key=order)


@pytest.mark.parametrize("asked", ["1.0.0", "2.1", "0.19.0", "0.1.0", "0.18.9"])
def test_what_is_rendered_and_what_is_judged_take_one_release(asked):
    """Facts and API types of two releases would contradict each other, and two warnings of one rule would say so."""
    facts = release("kueue")
    assert facts is not None
    types, _ = catalog.load(ROOT / "schemas", kubernetes="1.35", projects={"kueue": asked})
    assert types.projects["kueue"] == facts.nearest(asked)
