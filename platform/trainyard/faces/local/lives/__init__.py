"""What controllers do when pods end: a life for each sort of controller; `LIVES` in each module of this folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache

from trainyard.base.system.registry import modules
from trainyard.faces.local.controllers import controller_of
from trainyard.faces.local.controllers.base import Object, Objects, Pod
from trainyard.faces.local.lives.base import GO_ON, Exit, Life, Make, Step, UntilAll

__all__ = ["GO_ON", "Exit", "Life", "Step", "life_of", "lives"]


@cache
def lives() -> Mapping[type, Make]:
    """Return the makers of lives, by the class of a job's controller."""
    return {
        known: make for module in modules(sys.modules[__name__]) for known, make in getattr(module, "LIVES", {}).items()
    }


def life_of(job: Object, objects: Objects, pods: Sequence[Pod]) -> Life:
    """Return the life of a job; without one that its controller's class or a class above it has, all pods must end."""
    above = type(controller_of(job)).__mro__
    make = next((lives()[known] for known in above if known in lives()), None)
    return make(pods, job, objects) if make else UntilAll(pods)
