"""One word of a list is added or changed, and the rest of the text stays."""

from __future__ import annotations

import pytest

from trainyard.base.errors import SpecError
from trainyard.specs.editing.items import add_item, set_item

ADDED = {
    "between brackets": ("a: [b, c] # why\n", "a: [b, c, new] # why\n"),
    "over several lines": ("a: [b,\n    c]\n", "a: [b,\n    c, new]\n"),
    "a comma at the end": ("a: [b, c,]\n", "a: [b, c, new,]\n"),
    "in quotes": ("a: ['b', \"c\"]\n", "a: ['b', \"c\", new]\n"),
    "a line each": ("a:\n- b\n- c # why\nd: 1\n", "a:\n- b\n- c # why\n- new\nd: 1\n"),
    "a line each, deeper": ("a:\n    - b\n    - c\n", "a:\n    - b\n    - c\n    - new\n"),
    "without a last line feed": ("a:\n- b", "a:\n- b\n- new\n"),
    "line ends of Windows": ("a:\r\n- b\r\n", "a:\r\n- b\r\n- new\r\n"),
}


@pytest.mark.parametrize(("before", "after"), ADDED.values(), ids=ADDED)
def test_an_item_is_added_as_the_others_are_written(before, after) -> None:
    """The form of the list and all comments are kept."""
    assert add_item(before, "x.yaml", ("a",), "new") == after


SET = {
    "between brackets": ("a: [b, c] # why\n", "a: [b, new] # why\n"),
    "in quotes": ("a: [b, 'c']\n", "a: [b, new]\n"),
    "a line each": ("a:\n- b\n- c # why\n", "a:\n- b\n- new # why\n"),
}


@pytest.mark.parametrize(("before", "after"), SET.values(), ids=SET)
def test_an_item_is_changed_where_it_stands(before, after) -> None:
    """Nothing else is."""
    assert set_item(before, "x.yaml", ("a", 1), "new") == after


BY_HAND = {
    "an anchor used elsewhere": "b: &x [c]\na: *x\n",
    "an item with an anchor": "a: [&x c]\n",
    "a text over lines": "a:\n- |-\n  b\n",
    "nothing there": "a: []\n",
}


@pytest.mark.parametrize("text", BY_HAND.values(), ids=BY_HAND)
def test_what_only_a_person_can_edit_is_refused(text) -> None:
    """Better a word than a file that says something else."""
    with pytest.raises(SpecError, match="cannot be edited automatically"):
        add_item(text, "x.yaml", ("a",), "new")
