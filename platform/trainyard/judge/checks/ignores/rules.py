"""The rules about what is ignored itself."""

from __future__ import annotations

from trainyard.base.rules import Rule

SETTINGS = Rule(
    id="spec/ignore-settings",
    title="Settings in .trainyard.yaml name rules that exist.",
    why="a misspelt rule keeps its weight, without an error",
    fix="use the id of a rule, as in brackets after a finding",
    source="docs/ignoring.md",
)
BASELINE = Rule(
    id="spec/baseline",
    title="Every entry of a baseline has a finding.",
    why="an entry for a mistake that was fixed would hide the same mistake when it comes back",
    fix="write the baseline again, or remove the entry",
    source="docs/ignoring.md",
    may_waive=True,
    may_warn=True,
)
