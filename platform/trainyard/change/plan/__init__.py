"""What a change does to the clusters: what starts, stops, is replaced and is left alone."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainyard.change.plan.assemble import make_plan, read_plan
    from trainyard.change.plan.compare.trees import compare as compare_trees
    from trainyard.change.plan.effects import ObjectEffect, Plan, RunEffect
    from trainyard.change.plan.read.refused import Verdict, judge_change
    from trainyard.change.plan.words.text import render

__all__ = [
    "ObjectEffect",
    "Plan",
    "RunEffect",
    "Verdict",
    "compare_trees",
    "judge_change",
    "make_plan",
    "read_plan",
    "render",
]

_HOMES = {
    "ObjectEffect": "effects.ObjectEffect",
    "Plan": "effects.Plan",
    "RunEffect": "effects.RunEffect",
    "Verdict": "read.refused.Verdict",
    "compare_trees": "compare.trees.compare",
    "judge_change": "read.refused.judge_change",
    "make_plan": "assemble.make_plan",
    "read_plan": "assemble.read_plan",
    "render": "words.text.render",
}


def __getattr__(name: str) -> Any:
    """Import the name that is asked for: a part of a plan, such as its findings, is used without the rest."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, own = _HOMES[name].rpartition(".")
    return getattr(import_module(f"{__name__}.{module}"), own)
