"""Has helm and kustomize make objects of charts and kustomizations, where they are installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from trainyard.checks.foreign import Sifted
from trainyard.checks.result import Result, Unrendered
from trainyard.errors import ToolError
from trainyard.findings import Finding, Location, Skipped
from trainyard.rules import Rule
from trainyard.system import process

SECONDS = 120
VERBS = {"helm": "template", "kustomize": "build"}

RULE = Rule(
    id="decode/build",
    title="A chart or kustomization can be built.",
    why="nothing is applied of it",
    fix="mend what the program says",
    source="docs/apiserver.md",
    layer="decode",
)


def built(found: Sifted, result: Result) -> Sifted:
    """Add what the programs make; what cannot be built is a finding, what no program is there for stays as it is."""
    made, left = [], []
    for each in found.unrendered:
        if shutil.which(each.tool) is None:
            left.append(each)
            result.extend(Result(skipped=[Skipped(RULE.id, f"{each.tool} is not installed")]))
            continue
        for done in build(each):
            if isinstance(done, Finding):
                result.findings.append(done)
            else:
                made.append(done)
    return replace(found, files=[*found.files, *made], unrendered=left)


def build(each: Unrendered) -> Iterator[tuple[str, bytes] | Finding]:
    """Yield the text that a program makes of a folder, or why it makes none."""
    try:
        done = process.run([each.tool, VERBS[each.tool], each.folder], cwd=Path.cwd(), timeout_seconds=SECONDS)
    except ToolError as error:
        yield RULE.of(Location(each.folder), str(error))
        return
    if done.code:
        yield RULE.of(Location(each.folder), f"{each.tool} {VERBS[each.tool]} fails: {done.complaint}")
    else:
        yield f"{each.folder} ({each.tool} {VERBS[each.tool]})", done.out
