"""The table of what goes wrong under Argo CD, in its page: from the file that joins each pitfall with its tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

BEGIN, END = "<!-- pitfalls: written by make docs from tests/pitfalls.yaml -->", "<!-- end of pitfalls -->"
ISSUES = "https://github.com/argoproj/argo-cd/issues/"


def page(root: Path) -> str:
    """Return the page on Argo CD with the table between its marks."""
    text = (root / "docs/argocd.md").read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([f"{before}{BEGIN}", "", *table(root), "", f"{END}{after}"])


def table(root: Path) -> Iterator[str]:
    """Yield the lines of the table."""
    rows: list[Mapping[str, Any]] = yaml.load(
        (root / "tests/pitfalls.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader
    )
    yield "| What goes wrong | | Why not here | Tests | Source |"
    yield "|---|---|---|---|---|"
    for row in rows:
        tests = ", ".join(f"[{number}]({address(test)})" for number, test in enumerate(row["tests"], 1))
        yield f"| {row['pitfall']} | {row['how']} | {row['answer']} | {tests} | {row['source']} |"


def address(test: str) -> str:
    """Return the path from the page to the file of a test."""
    return f"../{test.partition('::')[0]}"
