"""What a change does to the clusters: what starts, stops, is replaced and is left alone."""

from trainyard.plan.compare import compare
from trainyard.plan.effects import ObjectEffect, Plan, RunEffect
from trainyard.plan.made import made
from trainyard.plan.read import read
from trainyard.plan.refused import Verdict, refused
from trainyard.plan.words import render

__all__ = ["ObjectEffect", "Plan", "RunEffect", "Verdict", "compare", "made", "read", "refused", "render"]
