"""JobSet: the chart's defaults serve."""

from __future__ import annotations

from trainyard.operators.base import Operator


class JobSet(Operator):
    """JobSet from its chart; it makes its webhook's certificate itself, in a Secret that the chart ships empty."""

    name = "jobset"
    ignore = ({"kind": "Secret", "name": "jobset-webhook-server-cert", "jsonPointers": ["/data"]},)


OPERATOR = JobSet()
