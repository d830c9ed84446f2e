"""The rules about what is ignored itself."""

from __future__ import annotations

from trainyard.base.rules import Rule

IGNORE = Rule(
    id="spec/ignore",
    title="A comment that ignores a rule names one that has a finding there, and says why.",
    why="a comment without effect hides the next mistake of its kind",
    fix="write # trainyard: ignore RULE: REASON on the line of the finding or above it, or remove the comment",
    source="docs/validation.md",
    may_waive=True,
    may_warn=True,
)
SETTINGS = Rule(
    id="spec/ignore-settings",
    title="Settings in .trainyard.yaml name rules that exist.",
    why="a misspelt rule keeps its weight, without an error",
    fix="use the id of a rule, as in brackets after a finding",
    source="docs/validation.md",
)
BASELINE = Rule(
    id="spec/baseline",
    title="Every entry of a baseline has a finding.",
    why="an entry for a mistake that was fixed would hide the same mistake when it comes back",
    fix="write the baseline again, or remove the entry",
    source="docs/validation.md",
    may_waive=True,
    may_warn=True,
)
