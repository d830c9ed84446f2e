"""What a change does to the clusters: what starts, stops, is replaced and is left alone."""

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
