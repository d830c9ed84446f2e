"""What packages need that bring their own kinds; defined below `trainyard.render` and `trainyard.specs`."""

from trainyard.render.kinds import Kind, Resolved, build, kinds, resolve
from trainyard.render.kinds.around import InAppWrapper
from trainyard.render.kinds.behaviour import Behaviour
from trainyard.render.kinds.objects import files, pod, queued
from trainyard.render.launchers import Wiring
from trainyard.render.parts.objects import Resource
from trainyard.specs.run import Run

__all__ = [
    "Behaviour",
    "InAppWrapper",
    "Kind",
    "Resolved",
    "Resource",
    "Run",
    "Wiring",
    "build",
    "files",
    "kinds",
    "pod",
    "queued",
    "resolve",
]
