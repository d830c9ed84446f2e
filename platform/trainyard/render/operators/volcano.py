"""Volcano: its scheduler, controllers and webhooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from trainyard.render.operators.base import Conflict, Operator, Site
from trainyard.render.operators.stated_values import if_false, stated
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

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield values that leave jobs and queues without the program that moves them."""
        said = stated(site, "custom.scheduler_name")
        if said is not None and said != self.name:
            message = f"custom.scheduler_name is {said!r}, but pods of runs ask for 'volcano'; remove it"
            yield Conflict("custom.scheduler_name", message, f"{TEMPLATES}/scheduler.yaml")
        needed = {
            "custom.scheduler_enable": "then no pod of Volcano's jobs gets a node; remove it",
            "custom.controller_enable": "then Volcano's jobs get no pods; remove it",
        }
        yield from if_false(site, needed, f"{TEMPLATES}/scheduler.yaml, controllers.yaml")


TEMPLATES = "volcano-sh/volcano v1.15.1 installer/helm/chart/volcano/templates"

OPERATOR = Volcano()
