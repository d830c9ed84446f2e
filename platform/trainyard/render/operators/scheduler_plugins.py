"""scheduler-plugins: a second scheduler for gangs."""

from __future__ import annotations

from typing import Any

from trainyard.render.operators.base import Operator, Site


class SchedulerPlugins(Operator):
    """scheduler-plugins from its chart, with Coscheduling alone.

    The others that it turns on need objects that nobody here makes: elastic quotas, which are Kueue's affair, and what
    an agent on each node says of its NUMA nodes.
    """

    name = "scheduler-plugins"

    def values(self, _site: Site) -> dict[str, Any]:
        """Return the one plugin."""
        return {"plugins": {"enabled": ["Coscheduling"]}}


OPERATOR = SchedulerPlugins()
