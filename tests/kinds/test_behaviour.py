"""The page on failures says of every kind what the kind itself says; `--update` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conftest import ROOT
from trainyard.render.kinds import Kind, kinds
from trainyard.render.kinds.behaviour import EVENTS

PAGE = ROOT / "docs" / "failures.md"
TABLES = (("fails", "drained", "counts", "done"), ("late", "unready", "order"))
"""What stands side by side, by the fields of a kind's behaviour."""

START, END = "## Kind by kind\n", "\n## "


def table(fields: tuple[str, ...], listed: list[Kind]) -> Iterator[str]:
    """Yield a table with a row for each way to behave, and the kinds that do so."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for kind in listed:
        rows.setdefault(tuple(getattr(kind.behaviour, field) for field in fields), []).append(kind.name)
    yield f"| kind | {' | '.join(EVENTS[field] for field in fields)} |"
    yield f"|---{'|---' * len(fields)}|"
    for said, names in rows.items():
        yield f"| {', '.join(f'`{name}`' for name in names)} | {' | '.join(said)} |"


def test_the_page_on_failures_says_what_every_kind_does(request: pytest.FixtureRequest) -> None:
    """Every field of a kind's behaviour is in a table of the page, in the kind's own words."""
    assert {field for fields in TABLES for field in fields} == set(EVENTS)
    own: list[Any] = [kind for kind in kinds().values() if type(kind).__module__.startswith("trainyard.")]
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(START)
    said, _, after = rest.partition(END)
    words = said.split("\n| kind |")[0]
    right = "\n".join([words, *table(TABLES[0], own), "", *table(TABLES[1], own)]) + "\n"
    if request.config.getoption("--update"):
        PAGE.write_text(f"{before}{START}{right}{END}{after}", encoding="utf-8")
    else:
        assert said == right
