"""Volcano: its scheduler, controllers and webhooks."""

from __future__ import annotations

from typing import Any, ClassVar

from trainyard.render.operators.base import Operator, Site
from trainyard.render.parts.health import by_field

OVERRIDE = "custom.scheduler_config_override"
"""Where values of its chart have a configuration of the scheduler in place of the default one."""


class Volcano(Operator):
    """Volcano from its chart, as its default configuration of the scheduler has it: nothing is preempted.

    That orders queues by what they were promised and starts a job when all of its gang fits. The controller alone
    says that a queue is open, and the webhook refuses jobs until then, which Argo CD tries again.
    """

    name = "volcano"
    health: ClassVar = {
        "scheduling.volcano.sh/Queue": by_field(
            "state", waiting="Waiting for the controller", healthy="Open", degraded="Unknown"
        ),
    }

    def values(self, _site: Site) -> dict[str, Any]:
        """Return the chart values that keep images as they were pulled: their tags are releases."""
        return {"basic": {"image_pull_policy": "IfNotPresent"}}


OPERATOR = Volcano()
