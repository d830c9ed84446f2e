"""LeaderWorkerSet: groups of pods that restart together."""

from __future__ import annotations

from typing import Any

from trainyard.render.operators.base import Operator, Site


class LeaderWorkerSets(Operator):
    """LeaderWorkerSet from its chart; it makes its certificate itself, in a Secret that the chart ships empty.

    The image's tag is said: the chart in the repository says `main`, and is changed when it is published.
    """

    name = "lws"

    def values(self, site: Site) -> dict[str, Any]:
        """Return the image of the release."""
        return {"image": {"manager": {"tag": f"v{site.version}", "pullPolicy": "IfNotPresent"}}}


OPERATOR = LeaderWorkerSets()
