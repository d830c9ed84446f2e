"""Another release is written into a file as people write them, and all else stays as it is."""

from __future__ import annotations

import pytest

from trainyard.base.errors import SpecError
from trainyard.specs.editing.releases import drop_map, set_release

PATH = ("operators", "kueue", "version")
SAYS = 'unlisted: {like: "0.18.6", reason: "by {hand}, compared"}'

SET = {
    "in braces": (
        'operators:\n  kueue: {version: "0.18.6"}  # kept\n',
        'operators:\n  kueue: {version: "0.19.2"}  # kept\n',
    ),
    "in lines": (
        "operators:\n  kueue:\n    version: 0.18.6 # kept\n",
        'operators:\n  kueue:\n    version: "0.19.2" # kept\n',
    ),
    "in other quotes": ("operators: {kueue: {version: '0.18.6'}}\r\n", 'operators: {kueue: {version: "0.19.2"}}\r\n'),
}
DROP = {
    "last in braces": (f'a: {{version: "1", {SAYS}}}  # kept\n', 'a: {version: "1"}  # kept\n'),
    "first in braces": (f'a: {{{SAYS}, version: "1"}}\n', 'a: {version: "1"}\n'),
    "in lines": (
        'a:\n  version: "1"\n  unlisted:\n    like: x\n\n    reason: y\n  managed: false\n',
        'a:\n  version: "1"\n  managed: false\n',
    ),
    "in braces on a line of its own": (f'a:\n  version: "1"\n  {SAYS}\nb: 2\n', 'a:\n  version: "1"\nb: 2\n'),
}


@pytest.mark.parametrize(("before", "after"), SET.values(), ids=SET)
def test_a_release_is_written_in_quotes(before, after):
    """Without them 0.20 would be a number."""
    assert set_release(before, "a.yaml", PATH, "0.19.2") == after


@pytest.mark.parametrize(("before", "after"), DROP.values(), ids=DROP)
def test_a_map_is_taken_away(before, after):
    """However it is written; nothing beside it changes."""
    assert drop_map(before, "a.yaml", ("a",), "unlisted") == after


WRONG = {
    "an anchor that others use": 'operators: {kueue: {version: &v "0.18.6"}, other: {version: *v}}\n',
    "a text of several lines": "operators:\n  kueue:\n    version: >-\n      0.18.6\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_what_only_a_person_can_edit_is_left(text):
    """The error says what to write, and where."""
    with pytest.raises(
        SpecError, match=r"cannot be edited automatically; write .*0\.19\.2.* at operators\.kueue\.version"
    ):
        set_release(text, "a.yaml", PATH, "0.19.2")
