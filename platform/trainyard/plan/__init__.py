"""What a change does to the clusters: what starts, stops, is replaced and is left alone."""

from trainyard.plan.assemble import make_plan, read_plan
from trainyard.plan.compare.trees import compare as compare_trees
from trainyard.plan.effects import ObjectEffect, Plan, RunEffect
from trainyard.plan.read.refused import Verdict, refused
from trainyard.plan.words.text import render

__all__ = [
    "ObjectEffect",
    "Plan",
    "RunEffect",
    "Verdict",
    "compare_trees",
    "make_plan",
    "read_plan",
    "refused",
    "render",
]
