"""All that a Python policy may import: the world it looks at and the problems it yields."""

from trainyard.checks.policy import Problem
from trainyard.checks.world import QUEUE_LABEL, Place, Pods, TrainingJob, World
from trainyard.findings import Severity, did_you_mean

__all__ = ["QUEUE_LABEL", "Place", "Pods", "Problem", "Severity", "TrainingJob", "World", "did_you_mean"]
