"""Pod: a pod as it is."""

from __future__ import annotations

from trainyard.faces.local.controllers.base import Controller, Made, Object, Objects, Pod, name_of, namespace_of, pod


class Alone(Controller):
    """A pod that no controller made."""

    kind = "Pod"
    group = ""

    def make(self, job: Object, _objects: Objects) -> Made:
        """Return the pod."""
        made = pod(job, name_of(job), namespace_of(job))
        return Made((Pod("pod", 0, made, name_of(job)),))


CONTROLLERS = (Alone(),)
