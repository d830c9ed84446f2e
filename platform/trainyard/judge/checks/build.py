"""Has helm and kustomize make objects of charts and kustomizations, where they are installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from trainyard.base.errors import ToolError
from trainyard.base.findings import Finding, Location, Skipped
from trainyard.base.rules import Rule
from trainyard.base.system import process
from trainyard.judge.checks.foreign import Sifted
from trainyard.judge.checks.result import Result, Unrendered

SECONDS = 120
VERBS = {"helm": "template", "kustomize": "build"}

RULE = Rule(
    id="decode/build",
    title="Charts and kustomizations can be built.",
    why="no object of it is checked or applied",
    fix="correct what the tool reports",
    source="docs/apiserver.md",
    layer="decode",
)


def build_sources(found: Sifted, result: Result) -> Sifted:
    """Add what the programs make; what cannot be built is a finding, what no program is there for stays as it is."""
    made, left = [], []
    for item in found.unrendered:
        if shutil.which(item.tool) is None:
            left.append(item)
            result.extend(Result(skipped=[Skipped(RULE.id, f"{item.tool} is not installed")]))
            continue
        for done in build(item):
            if isinstance(done, Finding):
                result.findings.append(done)
            else:
                made.append(done)
    return replace(found, files=[*found.files, *made], unrendered=left)


def build(unrendered: Unrendered) -> Iterator[tuple[str, bytes] | Finding]:
    """Yield the text that a program makes of a folder, or why it makes none."""
    try:
        done = process.run(
            [unrendered.tool, VERBS[unrendered.tool], unrendered.folder], cwd=Path.cwd(), timeout_seconds=SECONDS
        )
    except ToolError as error:
        yield RULE.of(Location(unrendered.folder), str(error))
        return
    if done.code:
        yield RULE.of(
            Location(unrendered.folder), f"{unrendered.tool} {VERBS[unrendered.tool]} fails: {done.complaint}"
        )
    else:
        yield f"{unrendered.folder} ({unrendered.tool} {VERBS[unrendered.tool]})", done.out
