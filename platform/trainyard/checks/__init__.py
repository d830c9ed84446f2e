"""All that a Python policy may import: the world it looks at and the problems it yields.

The modules behind the names are imported when a policy asks for one: judging a stranger's file needs no specs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from trainyard.findings import Severity, did_you_mean
from trainyard.labels import NETWORK_RESOURCE, NETWORKS
from trainyard.labels import QUEUE as QUEUE_LABEL

if TYPE_CHECKING:
    from trainyard.checks.policy import Problem
    from trainyard.checks.world import Amount, Place, Pods, TrainingJob, World

__all__ = [
    "NETWORKS",
    "NETWORK_RESOURCE",
    "QUEUE_LABEL",
    "Amount",
    "Place",
    "Pods",
    "Problem",
    "Severity",
    "TrainingJob",
    "World",
    "did_you_mean",
]


def __getattr__(name: str) -> Any:
    """Import what a policy asks for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'policy' if name == 'Problem' else 'world'}"), name)
