"""scheduler-plugins: a second scheduler for gangs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site
from trainyard.render.operators.stated_values import stated

PLUGIN = "Coscheduling"


class SchedulerPlugins(Operator):
    """scheduler-plugins from its chart, with Coscheduling alone.

    The others that it turns on need objects that nobody here makes: elastic quotas, which are Kueue's affair, and what
    an agent on each node says of its NUMA nodes.
    """

    name = "scheduler-plugins"

    def values(self, _site: Site) -> dict[str, Any]:
        """Return the one plugin."""
        return {"plugins": {"enabled": [PLUGIN]}}

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield lists by which gangs are not kept together."""
        if site.cluster.gang != "coscheduling":
            return
        for path, wrong in (("plugins.enabled", False), ("plugins.disabled", True)):
            listed = stated(site, path)
            if isinstance(listed, list | tuple) and (PLUGIN in listed) is wrong:
                what = "has" if wrong else "lacks"
                message = f"{path} {what} {PLUGIN}, which gang 'coscheduling' needs; {'remove' if wrong else 'add'} it"
                yield Conflict(path, message, "kubernetes-sigs/scheduler-plugins v0.34.7 pkg/coscheduling/README.md")


OPERATOR = SchedulerPlugins()
