"""The page on kinds says of every kind what the kind itself says."""

from __future__ import annotations

import page
from trainyard.render.kinds import kinds
from trainyard.render.kinds.behaviour import EVENTS


def test_the_page_on_kinds_says_what_every_kind_does() -> None:
    """Each kind of ours has a section, with a row for every field of its behaviour."""
    own = {name: kind for name, kind in kinds().items() if type(kind).__module__.startswith("trainyard.")}
    assert own
    for name, kind in own.items():
        section = page.text("reference/kinds.md", name)
        rows = [f"| {words} | {getattr(kind.behaviour, field)} |" for field, words in EVENTS.items()]
        assert [row for row in rows if row not in section.splitlines()] == [], name
