"""The page on what goes together: from the file that joins each constraint with its rule and its cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from docs_fields import cell

HEAD = """\
Programs on a cluster depend on each other's releases. Each constraint has a rule that finds what breaks it; `trainyard
rule <id>` explains the rule, and its finding names the field to change. `make docs` writes this page from
`tests/pairs.yaml`, where each row has a case that is wrong and one that is right. [Releases](releases.md) lists what
each release needs, and [`trainyard upgrade`](../updating.md) moves them together."""


def page(root: Path) -> Iterator[str]:
    """Yield the lines of the page."""
    rows: list[Mapping[str, Any]] = yaml.load((root / "tests/pairs.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader)
    yield from ("# What goes together", "", *HEAD.splitlines(), "")
    yield from ("| constraint | rule | what to change | source |", "|---|---|---|---|")
    for row in rows:
        rule = "–" if row["rule"] == "none" else f"[`{row['rule']}`](../rules.md#{anchor(row['rule'])})"
        yield f"| {' | '.join((cell(row['constraint']), rule, cell(row['fix']), cell(row['source'])))} |"


def anchor(rule: str) -> str:
    """Return the anchor of a rule on the page of rules."""
    return rule.replace("/", "")
